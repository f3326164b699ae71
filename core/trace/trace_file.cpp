#include "core/trace/trace_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/checked.hpp"
#include "core/base/json.hpp"
#include "core/base/json_lists.hpp"
#include "core/base/json_walk.hpp"
#include "core/base/text.hpp"
#include "core/trace/repeat_check.hpp"
#include "core/trace/safetensors.hpp"
#include "generated/documents/trace.hpp"

namespace driftscope {
namespace {

constexpr std::string_view format_family = "driftscope-trace-";
constexpr std::string_view format_name = "driftscope-trace-1";

/// Whether `run` is within the limits of all that read it. In the document of a comparison it lies deeper,
/// and that has limits as well.
Status check_run(const std::string& run) {
  constexpr int deepest = 32;
  const auto value = parse_document(run);
  if (!value.ok()) return in_context(value.error(), "run");
  if (walk_json(run, deepest).too_deep)
    return bad_input(fmt::format("run: expected at most {} objects and lists inside each other", deepest));
  if (!value->is_object()) return bad_input("run is not a JSON object");
  return {};
}

/// Whatever is added up of them later fits.
Status check_times(const std::vector<NodeRecord>& nodes) {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const std::int64_t time_ns : nodes[i].time_ns) {
      if (time_ns < 0)
        return bad_input(
            fmt::format("__metadata__: nodes[{}].time_ns: a time is at least 0, got {}", i, time_ns));
      const auto sum = checked_add(total, time_ns);
      if (!sum) return bad_input("nodes: the sum of the times does not fit into 64 bits of nanoseconds");
      total = *sum;
    }
  return {};
}

/// 30,000 years: beyond any run, and a double still tells one millisecond from the next.
constexpr double longest_ms = 1e15;

Status check_samples(const std::vector<MemoryRecord>& memory) {
  for (std::size_t i = 0; i < memory.size(); ++i)
    if (std::abs(memory[i].t_ms) > longest_ms)
      return bad_input(fmt::format(
          "__metadata__: memory[{}].t_ms: milliseconds since the start of the run are from {:g} to "
          "{:g}, got {:g}",
          i, -longest_ms, longest_ms, memory[i].t_ms));
  return {};
}

/// Reads an array of records from one metadata entry.
template <class Record>
Status read_records(const std::map<std::string, std::string>& metadata, const char* key,
                    std::vector<Record>& records) {
  const auto entry = metadata.find(key);
  if (entry == metadata.end()) return {};
  const auto list = parse_document(entry->second);
  if (!list.ok()) return in_context(list.error(), fmt::format("__metadata__: {}", key));
  return read_json(*list, JsonPath(fmt::format("__metadata__: {}", key)), records);
}

/// Files of other programs may use the same keys for other purposes: only their tensors are read.
Result<bool> is_ours(const std::map<std::string, std::string>& metadata) {
  const auto entry = metadata.find("format");
  if (entry == metadata.end()) return true;
  if (entry->second == format_name) return true;
  if (entry->second.starts_with(format_family))
    return unsupported(fmt::format("format is {}; this build reads {}: use a newer Driftscope",
                                   in_quotes(entry->second), format_name));
  return false;
}

Status read_metadata(const std::map<std::string, std::string>& metadata, Trace& trace) {
  DRIFTSCOPE_TRY(const bool ours, is_ours(metadata));
  if (!ours) return {};
  const auto take = [&](const char* key, std::string& target) {
    if (const auto entry = metadata.find(key); entry != metadata.end()) target = entry->second;
  };
  take("model_sha256", trace.model_sha256);
  take("target", trace.target);
  if (!printable(trace.target) || !printable(trace.model_sha256))
    return bad_input("__metadata__: target and model_sha256 must not contain control characters");
  take("run", trace.run);
  if (auto run = check_run(trace.run); !run.ok()) return in_context(std::move(run).error(), "__metadata__");
  DRIFTSCOPE_CHECK(read_records(metadata, "nodes", trace.nodes));
  DRIFTSCOPE_CHECK(check_times(trace.nodes));
  DRIFTSCOPE_CHECK(read_records(metadata, "control_flow", trace.control_flow));
  DRIFTSCOPE_CHECK(read_records(metadata, "memory", trace.memory));
  return check_samples(trace.memory);
}

Result<Trace> read_recorded(std::span<const std::byte> bytes) {
  DRIFTSCOPE_TRY(Safetensors file, read_safetensors(bytes));
  Trace trace;
  DRIFTSCOPE_CHECK(read_metadata(file.metadata, trace));
  const std::vector<LaterName> later = later_names(trace);
  for (NamedTensor& named : file.tensors) {
    const auto found = std::ranges::find(later, named.name, &LaterName::name);
    if (found == later.end())
      trace.tensors.push_back(std::move(named));
    else
      trace.later.push_back({found->run, {found->value, std::move(named.tensor)}});
  }
  return trace;
}

Result<std::map<std::string, std::string>> metadata_of(const Trace& trace) {
  std::map<std::string, std::string> metadata{{"format", std::string(format_name)}};
  if (!trace.model_sha256.empty()) metadata["model_sha256"] = trace.model_sha256;
  if (!trace.target.empty()) metadata["target"] = trace.target;
  DRIFTSCOPE_CHECK(check_run(trace.run));
  metadata["run"] = trace.run;
  for (const MemoryRecord& record : trace.memory)
    if (!std::isfinite(record.t_ms)) return internal_error("memory: t_ms is not a finite number");
  DRIFTSCOPE_CHECK(check_samples(trace.memory));
  DRIFTSCOPE_TRY(metadata["nodes"], exact_json_text(encode(trace.nodes), "nodes"));
  if (!trace.control_flow.empty()) {
    DRIFTSCOPE_TRY(metadata["control_flow"], exact_json_text(encode(trace.control_flow), "control_flow"));
  }
  DRIFTSCOPE_TRY(metadata["memory"], exact_json_text(encode(trace.memory), "memory"));
  return metadata;
}

}  // namespace

std::vector<LaterName> later_names(const Trace& about) {
  std::vector<LaterName> names;
  if (const auto check = repeat_check_of(about))
    for (const RunDifference& one : check->different)
      names.push_back({later_value_name(one.run, one.value), one.run, one.value});
  return names;
}

std::vector<NamedTensor> later_tensors(const Trace& trace) {
  std::vector<NamedTensor> tensors;
  for (const LaterValue& later : trace.later)
    if (!safetensors_dtype(later.named.tensor.dtype()).empty())
      tensors.push_back({later_value_name(later.run, later.named.name), later.named.tensor});
  return tensors;
}

Result<Trace> read_trace_metadata(const std::map<std::string, std::string>& metadata) {
  Trace trace;
  DRIFTSCOPE_CHECK(read_metadata(metadata, trace));
  return trace;
}

Result<std::map<std::string, std::string>> trace_metadata(const Trace& trace) { return metadata_of(trace); }

Result<Trace> read_trace(std::span<const std::byte> bytes) {
  auto trace = read_recorded(bytes);
  if (!trace.ok()) return in_context(std::move(trace).error(), "trace");
  return trace;
}

namespace {

Result<Safetensors> file_of(const Trace& trace) {
  DRIFTSCOPE_TRY(auto metadata, metadata_of(trace));
  std::vector<NamedTensor> tensors = trace.tensors;
  for (NamedTensor& later : later_tensors(trace)) tensors.push_back(std::move(later));
  return Safetensors{std::move(metadata), std::move(tensors)};
}

}  // namespace

Result<std::vector<std::byte>> write_trace(const Trace& trace) {
  auto file = file_of(trace);
  if (!file.ok()) return in_context(std::move(file).error(), "trace");
  auto bytes = write_safetensors(*file);
  if (!bytes.ok()) return in_context(std::move(bytes).error(), "trace");
  return bytes;
}

Status write_trace(const Trace& trace, const ByteSink& sink) {
  auto file = file_of(trace);
  if (!file.ok()) return in_context(std::move(file).error(), "trace");
  auto written = write_safetensors(*file, sink);
  if (!written.ok()) return in_context(std::move(written).error(), "trace");
  return {};
}

}  // namespace driftscope
