#include "core/kept/kept_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/archive/member_name.hpp"
#include "core/base/json.hpp"
#include "core/results/comparison_reader.hpp"
#include "core/results/view_json.hpp"
#include "core/trace/trace_file.hpp"
#include "core/trace/trace_view.hpp"
#include "generated/documents/kept.hpp"

namespace driftscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view format = "driftscope-run-1";
constexpr std::string_view format_name = "driftscope-run-";

const std::string index_name(kept_index_name);
constexpr const char* comparison_name = "comparison.json";
constexpr const char* graph_name = "graph.json";
constexpr const char* inputs_name = "inputs.safetensors";
constexpr std::string_view model_folder = "model/";

/// Texts are unpacked into memory; the largest that were seen have 100 MB.
constexpr std::uint64_t longest_text = std::uint64_t{1} << 30;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string trace_name(std::size_t target) { return fmt::format("traces/{}.safetensors", target); }

/// The left one first.
std::vector<const TargetResult*> targets_of(const ComparisonView& view) {
  std::vector<const TargetResult*> targets = {&view.left};
  for (const TargetResult& right : view.right) targets.push_back(&right);
  return targets;
}

/// A member for each file, under its own name where that can be one, so that the folder holds the model as
/// other programs load it.
std::vector<std::string> model_members(std::span<const ModelPart> parts) {
  std::vector<std::string> members;
  for (const ModelPart& part : parts) {
    std::string member = std::string(model_folder) + part.name;
    if (!is_member_name(member) || std::ranges::find(members, member) != members.end())
      member = fmt::format("model_data/{}", members.size());
    members.push_back(std::move(member));
  }
  return members;
}

std::string index_text(const ComparisonView& view, const KeptSources& sources) {
  documents::Kept index;
  index.build = view.build;
  index.model = {view.model_name, view.model_sha256, {}};
  const auto members = model_members(sources.model);
  for (std::size_t i = 0; i < members.size(); ++i)
    index.model.files.push_back({sources.model[i].name, members[i]});
  index.inputs = inputs_name;
  index.comparison = comparison_name;
  index.graph = graph_name;
  const auto results = targets_of(view);
  for (std::size_t i = 0; i < results.size(); ++i) {
    documents::KeptTarget& target = index.targets.emplace_back();
    target.target = results[i]->target;
    if (results[i]->trace) target.trace = trace_name(i);
  }
  return json_text(encode(index), 1) + "\n";
}

std::string format_of(const Json& index) {
  if (!index.is_object()) return {};
  const auto found = index.find("format");
  return found != index.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Result<std::string> read_text(const ArchiveReader& archive, const std::string& member) {
  DRIFTSCOPE_TRY(const auto bytes, archive.read(member, longest_text));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Result<documents::Kept> read_index(const ArchiveReader& archive) {
  if (!archive.has(index_name))
    return bad_input(fmt::format("it has no {}: it is a zip file, but not a kept comparison", index_name));
  DRIFTSCOPE_TRY(const std::string text, read_text(archive, index_name));
  const Json index = parse_ordered_json(text);
  const std::string found = format_of(index);
  if (found != format && found.starts_with(format_name))
    return unsupported(
        fmt::format("it has the format {}, this program reads {}: open it with the version of "
                    "Driftscope that wrote it, or a newer one",
                    found, format));
  if (found != format)
    return bad_input(fmt::format("{}: \"format\" is '{}', expected {}", index_name, found, format));
  documents::Kept run;
  DRIFTSCOPE_CHECK(read_json(index, JsonPath(index_name), run));
  return run;
}

Result<std::vector<ModelPart>> read_model_parts(const ArchiveReader& archive, const documents::Kept& index) {
  std::vector<ModelPart> parts;
  for (const documents::KeptFile& file : index.model.files) {
    DRIFTSCOPE_TRY(const auto bytes, archive.stored(file.member));
    parts.push_back({file.name, bytes});
  }
  return parts;
}

/// The trace of one target; empty: none.
Result<std::span<const std::byte>> read_trace_part(const ArchiveReader& archive,
                                                   const documents::KeptTarget& target,
                                                   const TargetResult& result, const std::string& model) {
  if (target.target != result.target)
    return bad_input(fmt::format("{}: a target is '{}', the comparison has '{}' there", index_name,
                                 target.target, result.target));
  if (!target.trace) return std::span<const std::byte>();
  DRIFTSCOPE_TRY(const auto bytes, archive.stored(*target.trace));
  auto view = TraceView::open(bytes);
  if (!view.ok()) return in_context(std::move(view).error(), *target.trace);
  const std::string& sha256 = view->about().model_sha256;
  if (!sha256.empty() && sha256 != model)
    return bad_input(
        fmt::format("{}: it is a trace of another model: its SHA-256 is {}…, the comparison's {}…",
                    *target.trace, sha256.substr(0, 12), model.substr(0, 12)));
  return bytes;
}

}  // namespace

Status write_kept(const ComparisonView& view, const KeptSources& sources, ArchiveOutput& output) {
  ArchiveWriter archive(output);
  DRIFTSCOPE_CHECK(archive.add(index_name, Packing::deflated, bytes_of(index_text(view, sources))));
  DRIFTSCOPE_CHECK(archive.add(comparison_name, Packing::deflated, bytes_of(view_json(view))));
  DRIFTSCOPE_CHECK(archive.add(graph_name, Packing::deflated, bytes_of(topology_json(sources.topology))));
  const auto members = model_members(sources.model);
  for (std::size_t i = 0; i < members.size(); ++i)
    DRIFTSCOPE_CHECK(archive.add(members[i], Packing::stored, sources.model[i].bytes));
  const auto sink = [&](std::span<const std::byte> bytes) { return archive.write(bytes); };
  DRIFTSCOPE_CHECK(archive.begin(inputs_name, Packing::stored));
  DRIFTSCOPE_CHECK(write_safetensors({{}, {sources.inputs.begin(), sources.inputs.end()}}, sink));
  const auto targets = targets_of(view);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (!targets[i]->trace) continue;
    DRIFTSCOPE_CHECK(archive.begin(trace_name(i), Packing::stored));
    DRIFTSCOPE_CHECK(write_trace(*targets[i]->trace, sink));
  }
  return archive.finish();
}

Result<KeptComparison> KeptComparison::open(std::span<const std::byte> bytes) {
  DRIFTSCOPE_TRY(const ArchiveReader archive, ArchiveReader::open(bytes));
  DRIFTSCOPE_TRY(const documents::Kept index, read_index(archive));
  KeptComparison kept;
  DRIFTSCOPE_TRY(const std::string comparison, read_text(archive, index.comparison));
  auto view = read_comparison(comparison);
  if (!view.ok()) return in_context(std::move(view).error(), index.comparison);
  kept.view_ = *std::move(view);
  DRIFTSCOPE_TRY(const std::string graph, read_text(archive, index.graph));
  DRIFTSCOPE_TRY(kept.topology_, read_topology(graph));
  DRIFTSCOPE_TRY(kept.model_, read_model_parts(archive, index));
  DRIFTSCOPE_TRY(const auto inputs, archive.stored(index.inputs));
  auto tensors = read_safetensors(inputs);
  if (!tensors.ok()) return in_context(std::move(tensors).error(), index.inputs);
  kept.inputs_ = std::move(tensors->tensors);
  const auto results = targets_of(kept.view_);
  if (index.targets.size() != results.size())
    return bad_input(fmt::format("{}: \"targets\" has {} entries, the comparison {} targets", index_name,
                                 index.targets.size(), results.size()));
  for (std::size_t i = 0; i < results.size(); ++i) {
    DRIFTSCOPE_TRY(const auto trace,
                   read_trace_part(archive, index.targets[i], *results[i], kept.view_.model_sha256));
    kept.traces_.push_back(trace);
  }
  return kept;
}

Result<ComparisonView> KeptComparison::whole_view() const {
  ComparisonView whole = view_;
  for (std::size_t i = 0; i < traces_.size(); ++i) {
    if (traces_[i].empty()) continue;
    TargetResult& result = i == 0 ? whole.left : whole.right[i - 1];
    auto trace = read_trace(traces_[i]);
    if (!trace.ok()) return in_context(std::move(trace).error(), trace_name(i));
    result.trace = *std::move(trace);
  }
  return whole;
}

}  // namespace driftscope
