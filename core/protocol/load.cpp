#include "core/protocol/load.hpp"

#include <fmt/format.h>

#include <map>

#include "core/base/text.hpp"
#include "core/eval/infer_shapes.hpp"
#include "core/graph/build.hpp"
#include "core/graph/print.hpp"
#include "core/model/model_note.hpp"
#include "core/model/onnx_reader.hpp"
#include "core/runtime/engine.hpp"
#include "core/runtime/target.hpp"
#include "generated/protocol/messages.hpp"

namespace driftscope {
namespace {

using nlohmann::json;
// Shapes depend only on constants smaller than this.
constexpr std::size_t min_weights = 16 << 10;

using Files = std::map<std::string, ByteSource>;

// Splits the payload: the bytes before those of the table of attachments are the model.
Result<Files> read_attachments(const messages::Load& request, ByteSource& payload) {
  Files files;
  if (!request.attachments) return files;
  std::vector<std::pair<std::string, std::uint64_t>> entries;
  std::uint64_t total = 0;
  for (const messages::Attachment& entry : *request.attachments) {
    const auto bytes = static_cast<std::uint64_t>(entry.bytes);
    if (bytes > payload.size - total)
      return bad_input(fmt::format("request: attachment {} has {} bytes, the message only {} more",
                                   in_quotes(entry.name), bytes, payload.size - total));
    total += bytes;
    entries.emplace_back(entry.name, bytes);
  }
  std::uint64_t at = payload.size - total;
  for (const auto& [name, size] : entries) {
    files[name] = payload.part(at, size);
    at += size;
  }
  payload = payload.part(0, payload.size - total);
  return files;
}

ExternalData from_attachments(const Files& files) {
  return
      [&files](const std::string& location, std::int64_t offset, std::int64_t length) -> Result<ByteSource> {
        const auto found = files.find(location);
        if (found == files.end())
          return bad_input(
              fmt::format("the model keeps data in the file '{}', which did not come with "
                          "it; choose both files together",
                          location));
        const auto size = static_cast<std::int64_t>(found->second.size);
        if (offset < 0 || offset > size || (length >= 0 && length > size - offset))
          return bad_input(fmt::format("'{}': {} bytes at {} are needed, the file has {}", location, length,
                                       offset, size));
        return found->second.part(static_cast<std::uint64_t>(offset),
                                  static_cast<std::uint64_t>(length < 0 ? size - offset : length));
      };
}

// The engine that will be started, which says whether it reads the model itself;
// null if the request names no target.
Result<const Engine*> engine_of(const messages::Load& request) {
  if (!request.target) return nullptr;
  DRIFTSCOPE_TRY(const Target target, parse_target(*request.target));
  return find_engine(target.engine);
}

SharedBytes all_of(const ByteSource& source) {
  if (source.in_place)
    if (const auto there = source.in_place(0, source.size, 0))
      return {there, std::span(there.get(), static_cast<std::size_t>(source.size))};
  std::vector<std::byte> bytes(static_cast<std::size_t>(source.size));
  source.read(0, bytes);
  return SharedBytes(std::move(bytes));
}

std::shared_ptr<const ModelSource> keep_source(const ByteSource& model, const Files& files) {
  auto source = std::make_shared<ModelSource>();
  source->model = all_of(model);
  for (const auto& [name, file] : files) source->files.push_back({name, all_of(file)});
  return source;
}

std::optional<std::vector<json>> describe_shape(const std::optional<SymbolicShape>& shape) {
  if (!shape) return std::nullopt;
  std::vector<json> dimensions;
  for (const Dimension& dimension : *shape) {
    if (dimension.known())
      dimensions.push_back(dimension.size);
    else
      dimensions.push_back(dimension.symbol.empty() ? "?" : dimension.symbol);
  }
  return dimensions;
}

std::vector<messages::Value> describe_values(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<messages::Value> list;
  for (const ValueId id : ids) {
    const Value& value = graph.values[id];
    list.push_back({value.name, std::string(dtype_name(value.dtype)), describe_shape(value.shape)});
  }
  return list;
}

}  // namespace

Result<LoadedModel> load_model(const messages::Load& request, ByteSource payload, bool payload_stays) {
  DRIFTSCOPE_TRY(const Engine* const engine, engine_of(request));
  DRIFTSCOPE_TRY(const Files files, read_attachments(request, payload));
  if (payload.size == 0) return bad_input("load: no model bytes came with the request");
  LoadedModel loaded;
  {
    const bool defer = request.once && payload_stays && engine != nullptr && engine->reads_deferred();
    DRIFTSCOPE_TRY(Model model,
                   read_onnx(payload, from_attachments(files), defer ? Weights::deferred : Weights::in_memory,
                             request.unhashed ? Hash::none : Hash::sha256));
    loaded.sha256 = std::move(model.sha256);
    DRIFTSCOPE_TRY(Graph graph, build_graph(model));
    DRIFTSCOPE_TRY(Graph inferred, infer_shapes(std::move(graph)));
    loaded.graph = std::make_shared<const Graph>(std::move(inferred));
  }
  if (engine != nullptr && engine->reads_source()) loaded.source = keep_source(payload, files);
  loaded.once = request.once;
  return loaded;
}

std::shared_ptr<const Graph> without_weights(const Graph& graph) {
  Graph outline = graph;
  for (Value& value : outline.values) {
    if (!value.constant) continue;
    if (value.constant->byte_size() >= min_weights)
      value.constant.reset();
    else
      (void)value.constant->bytes();
  }
  return std::make_shared<const Graph>(std::move(outline));
}

Status expect_whole(const LoadedModel& model) {
  if (!model.weights_consumed) return {};
  return bad_input("request: the model was loaded for one session, which has consumed it; load it again");
}

Result<BoundInputs> bind_model(LoadedModel& model, const NamedInputs& inputs) {
  DRIFTSCOPE_CHECK(expect_whole(model));
  DRIFTSCOPE_TRY(BoundInputs bound, bind_inputs(*model.graph, inputs));
  if (model.once) {
    model.graph = without_weights(*model.graph);
    model.weights_consumed = true;
  }
  return bound;
}

messages::LoadResponse describe_model(const LoadedModel& model) {
  const Graph& graph = *model.graph;
  return {.model_sha256 = model.sha256,
          .inputs = describe_values(graph, graph.inputs),
          .outputs = describe_values(graph, graph.outputs),
          .nodes = static_cast<std::int64_t>(graph.nodes.size()),
          .graph = print_graph(graph),
          .notes = note_lines(graph.notes)};
}

}  // namespace driftscope
