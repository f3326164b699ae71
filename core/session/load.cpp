#include "core/session/load.hpp"

#include <fmt/format.h>

#include <map>

#include "core/engine/engine.hpp"
#include "core/engine/target.hpp"
#include "core/graph/build.hpp"
#include "core/graph/print.hpp"
#include "core/model/onnx_reader.hpp"
#include "core/ops/infer_shapes.hpp"
#include "core/session/fields.hpp"

namespace driftscope {
namespace {

using nlohmann::json;
using Files = std::map<std::string, std::span<const std::byte>>;

// Splits the payload: what the table of attachments does not claim, at its front, is the model.
Result<Files> read_attachments(const json& request, std::span<const std::byte>& payload) {
  Files files;
  const auto table = request.find("attachments");
  if (table == request.end() || table->is_null()) return files;
  if (!table->is_array()) return bad_input("request: \"attachments\" must be an array");
  std::vector<std::pair<std::string, std::size_t>> entries;
  std::size_t total = 0;
  for (const json& entry : *table) {
    if (!entry.is_object()) return bad_input("request: each attachment must be an object");
    DRIFTSCOPE_TRY(const auto name, read_text(entry, "name"));
    DRIFTSCOPE_TRY(const auto size, read_whole(entry, "bytes", 0, INT64_MAX));
    if (!name || !size) return bad_input("request: an attachment needs \"name\" and \"bytes\"");
    const auto bytes = static_cast<std::uint64_t>(*size);
    if (bytes > payload.size() - total)
      return bad_input(
          fmt::format("request: attachment '{}' has {} bytes, the message only {} more", *name,
                      bytes, payload.size() - total));
    total += static_cast<std::size_t>(bytes);
    entries.emplace_back(*name, static_cast<std::size_t>(bytes));
  }
  std::size_t at = payload.size() - total;
  for (const auto& [name, size] : entries) {
    files[name] = payload.subspan(at, size);
    at += size;
  }
  payload = payload.first(payload.size() - total);
  return files;
}

ExternalData from_attachments(const Files& files) {
  return [&files](const std::string& location, std::int64_t offset,
                  std::int64_t length) -> Result<std::vector<std::byte>> {
    const auto found = files.find(location);
    if (found == files.end())
      return bad_input(fmt::format("the model keeps data in the file '{}', which did not come with "
                                   "it; choose both files together",
                                   location));
    const auto size = static_cast<std::int64_t>(found->second.size());
    if (offset < 0 || offset > size || (length >= 0 && length > size - offset))
      return bad_input(fmt::format("'{}': {} bytes at {} are needed, the file has {}", location,
                                   length, offset, size));
    const auto part = found->second.subspan(
        static_cast<std::size_t>(offset),
        static_cast<std::size_t>(length < 0 ? size - offset : length));
    return std::vector<std::byte>(part.begin(), part.end());
  };
}

// Whether the engine that will be started reads the model itself.
Result<bool> wants_source(const json& request) {
  DRIFTSCOPE_TRY(const auto text, read_text(request, "target"));
  if (!text) return false;
  DRIFTSCOPE_TRY(const Target target, parse_target(*text));
  DRIFTSCOPE_TRY(const Engine* const engine, find_engine(target.engine));
  return engine->reads_source();
}

std::shared_ptr<const ModelSource> keep_source(std::span<const std::byte> model,
                                               const Files& files) {
  auto source = std::make_shared<ModelSource>();
  source->model.assign(model.begin(), model.end());
  for (const auto& [name, bytes] : files)
    source->files.push_back({name, {bytes.begin(), bytes.end()}});
  return source;
}

json describe_shape(const std::optional<SymbolicShape>& shape) {
  if (!shape) return nullptr;
  json dimensions = json::array();
  for (const Dimension& dimension : *shape) {
    if (dimension.known())
      dimensions.push_back(dimension.size);
    else
      dimensions.push_back(dimension.symbol.empty() ? "?" : dimension.symbol);
  }
  return dimensions;
}

json describe_values(const Graph& graph, const std::vector<ValueId>& ids) {
  json list = json::array();
  for (const ValueId id : ids) {
    const Value& value = graph.values[id];
    list.push_back({{"name", value.name},
                    {"dtype", dtype_name(value.dtype)},
                    {"shape", describe_shape(value.shape)}});
  }
  return list;
}

}  // namespace

Result<LoadedModel> load_model(const json& request, std::span<const std::byte> payload) {
  DRIFTSCOPE_TRY(const bool keep, wants_source(request));
  DRIFTSCOPE_TRY(const Files files, read_attachments(request, payload));
  if (payload.empty()) return bad_input("load: no model bytes came with the request");
  DRIFTSCOPE_TRY(const Model model, read_onnx(payload, from_attachments(files)));
  DRIFTSCOPE_TRY(Graph graph, build_graph(model));
  DRIFTSCOPE_TRY(Graph inferred, infer_shapes(std::move(graph)));
  return LoadedModel{model.sha256, std::make_shared<const Graph>(std::move(inferred)),
                     keep ? keep_source(payload, files) : nullptr};
}

json describe_model(const LoadedModel& model) {
  const Graph& graph = *model.graph;
  return {{"model_sha256", model.sha256},
          {"inputs", describe_values(graph, graph.inputs)},
          {"outputs", describe_values(graph, graph.outputs)},
          {"nodes", graph.nodes.size()},
          {"graph", print_graph(graph)}};
}

}  // namespace driftscope
