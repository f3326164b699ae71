#include "core/trace/trace_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/checked.hpp"
#include "core/base/json.hpp"
#include "core/base/json_walk.hpp"
#include "core/base/text.hpp"
#include "core/trace/repeat_check.hpp"
#include "core/trace/safetensors.hpp"

namespace driftscope {
namespace {

using nlohmann::json;

constexpr std::string_view format_family = "driftscope-trace-";
constexpr std::string_view format_name = "driftscope-trace-1";

/// Parses one metadata entry; nesting is limited so that no reader of it can run out of stack.
Result<json> parse(const std::string& text, std::string_view key) {
  constexpr int deepest = 32;
  json value = walk_json(text, deepest).valid ? parse_json(text) : json(json::value_t::discarded);
  if (value.is_discarded()) return bad_input(fmt::format("__metadata__: {} is not valid JSON", key));
  return value;
}

Result<std::int64_t> integer(const json& value, std::string_view what) {
  const bool fits =
      value.is_number_integer() &&
      (!value.is_number_unsigned() || value.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX));
  if (!fits) return bad_input(fmt::format("{} must be a 64-bit integer", what));
  return value.get<std::int64_t>();
}

Result<std::string> text(const json& object, const char* key) {
  const auto value = object.find(key);
  if (value == object.end()) return std::string();
  if (!value->is_string()) return bad_input(fmt::format("{} must be a string", key));
  return value->get<std::string>();
}

/// The array under a key, empty when it is not there.
Result<json> array(const json& object, const char* key) {
  const auto value = object.find(key);
  if (value == object.end()) return json::array();
  if (!value->is_array()) return bad_input(fmt::format("{} must be an array", key));
  return *value;
}

Result<NodeRecord> node_record(const json& object) {
  if (!object.is_object()) return bad_input("it is not a JSON object");
  NodeRecord node;
  DRIFTSCOPE_TRY(node.name, text(object, "name"));
  DRIFTSCOPE_TRY(node.op, text(object, "op"));
  DRIFTSCOPE_TRY(const json outputs, array(object, "outputs"));
  for (const json& output : outputs) {
    if (!output.is_string()) return bad_input("outputs contains something other than names");
    node.outputs.push_back(output.get<std::string>());
  }
  DRIFTSCOPE_TRY(const json times, array(object, "time_ns"));
  for (const json& time : times) {
    DRIFTSCOPE_TRY(const std::int64_t time_ns, integer(time, "time_ns"));
    if (time_ns < 0) return bad_input(fmt::format("time_ns is {}, a time is at least 0", time_ns));
    node.time_ns.push_back(time_ns);
  }
  if (const auto constant = object.find("constant"); constant != object.end()) {
    if (!constant->is_boolean()) return bad_input("constant is neither true nor false");
    node.constant = constant->get<bool>();
  }
  return node;
}

/// Whatever is added up of them later fits.
Status check_times(const std::vector<NodeRecord>& nodes) {
  std::int64_t total = 0;
  for (const NodeRecord& node : nodes)
    for (const std::int64_t time_ns : node.time_ns) {
      const auto sum = checked_add(total, time_ns);
      if (!sum) return bad_input("nodes: the sum of the times does not fit into 64 bits of nanoseconds");
      total = *sum;
    }
  return {};
}

Result<MemoryRecord> memory_record(const json& object) {
  if (!object.is_object()) return bad_input("it is not a JSON object");
  MemoryRecord record;
  const auto time = object.find("t_ms");
  if (time == object.end() || !time->is_number()) return bad_input("t_ms is not a number");
  record.t_ms = time->get<double>();
  const auto bytes = object.find("bytes");
  if (bytes == object.end()) return bad_input("bytes is missing");
  DRIFTSCOPE_TRY(record.bytes, integer(*bytes, "bytes"));
  DRIFTSCOPE_TRY(record.kind, text(object, "kind"));
  return record;
}

/// Reads an array of records from one metadata entry.
template <class Record>
Status read_records(const std::map<std::string, std::string>& metadata, const char* key,
                    Result<Record> (*read)(const json&), std::vector<Record>& records) {
  const auto entry = metadata.find(key);
  if (entry == metadata.end()) return {};
  DRIFTSCOPE_TRY(const json list, parse(entry->second, key));
  if (!list.is_array()) return bad_input(fmt::format("__metadata__: {} is not a JSON array", key));
  for (const json& object : list) {
    auto record = read(object);
    if (!record.ok())
      return in_context(std::move(record).error(), fmt::format("__metadata__: {}[{}]", key, records.size()));
    records.push_back(*std::move(record));
  }
  return {};
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
  DRIFTSCOPE_TRY(const json run, parse(trace.run, "run"));
  if (!run.is_object()) return bad_input("__metadata__: run is not a JSON object");
  DRIFTSCOPE_CHECK(read_records(metadata, "nodes", &node_record, trace.nodes));
  DRIFTSCOPE_CHECK(check_times(trace.nodes));
  return read_records(metadata, "memory", &memory_record, trace.memory);
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
  DRIFTSCOPE_TRY(const json run, parse(trace.run, "run"));
  if (!run.is_object()) return bad_input("run is not a JSON object");
  metadata["run"] = trace.run;
  json nodes = json::array();
  for (const NodeRecord& node : trace.nodes) {
    nodes.push_back(
        {{"name", node.name}, {"op", node.op}, {"outputs", node.outputs}, {"time_ns", node.time_ns}});
    if (node.constant) nodes.back()["constant"] = true;
  }
  json memory = json::array();
  for (const MemoryRecord& record : trace.memory) {
    if (!std::isfinite(record.t_ms)) return internal_error("memory: t_ms is not a finite number");
    memory.push_back({{"t_ms", record.t_ms}, {"bytes", record.bytes}, {"kind", record.kind}});
  }
  DRIFTSCOPE_TRY(metadata["nodes"], exact_json_text(nodes, "nodes"));
  DRIFTSCOPE_TRY(metadata["memory"], exact_json_text(memory, "memory"));
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
