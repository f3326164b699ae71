// Compiled for size on the web (cmake/core.cmake).
#include "core/model/onnx_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <optional>

#include "core/base/sha256.hpp"
#include "core/base/text.hpp"
#include "core/model/foreign_file.hpp"
#include "core/model/model_outline.hpp"
#include "core/model/onnx_parts.hpp"
#include "core/model/protobuf_fields.hpp"

namespace driftscope {
namespace {

constexpr std::int64_t min_ir_version = 3;

/// A ModelProto, its graph still unread: opset and IR version are checked first.
struct ModelParts {
  Model model;
  std::string producer_version;
  std::optional<std::string_view> graph;
  std::vector<std::string_view> functions;
};

Status read_part(Field& field, ModelParts& parts) {
  switch (field.tag()) {
    case 1: parts.model.ir_version = field.integer(); return {};
    case 2: parts.model.producer = field.bytes(); return {};
    case 3: parts.producer_version = field.bytes(); return {};
    case 7:
      if (parts.graph) return bad_input("it contains two graphs");
      parts.graph = field.bytes();
      return {};
    case 8: return read_opset(field.bytes(), parts.model.opsets, &parts.model.notes);
    case 25: parts.functions.push_back(field.bytes()); return {};
    default: return {};
  }
}

Status check_versions(const Model& model) {
  if (model.ir_version < min_ir_version)
    return unsupported(fmt::format("IR version {} is not supported: expected {} or later (ONNX 1.0)",
                                   model.ir_version, min_ir_version));
  return check_opset(model.opsets);
}

Result<Model> read_model(std::string_view message, const ReadContext& context) {
  ModelParts parts;
  DRIFTSCOPE_CHECK(read_fields(message, [&](Field& field) { return read_part(field, parts); }));
  if (!parts.graph) return bad_input("it contains no graph: this is not an ONNX model");
  DRIFTSCOPE_CHECK(check_versions(parts.model));
  auto graph = read_graph(*parts.graph, context);
  if (!graph.ok()) return in_context(std::move(graph).error(), "graph");
  Model& model = parts.model;
  model.graph = *std::move(graph);
  std::vector<ModelFunction> functions;
  for (const std::string_view function : parts.functions) {
    DRIFTSCOPE_TRY(ModelFunction read, read_function(function, context));
    functions.push_back(std::move(read));
  }
  DRIFTSCOPE_CHECK(inline_functions(functions, model));
  if (!parts.producer_version.empty())
    model.producer += (model.producer.empty() ? "" : " ") + parts.producer_version;
  if (!printable(model.producer)) model.producer = "(unreadable)";
  return std::move(model);
}

}  // namespace

Status read_opset(std::string_view message, std::map<std::string, std::int64_t>& opsets,
                  std::vector<ModelNote>* notes) {
  std::string domain;
  std::int64_t version = 0;
  DRIFTSCOPE_CHECK(read_fields(message, [&](Field& field) -> Status {
    if (field.tag() == 1) return read_name(field, domain);
    if (field.tag() == 2) version = field.integer();
    return {};
  }));
  if (domain == "ai.onnx") domain.clear();
  const auto [entry, added] = opsets.emplace(domain, version);
  if (added || entry->second == version) return {};
  if (notes == nullptr)
    return bad_input(fmt::format("domain {} is imported as opset {} and as opset {}", in_quotes(domain),
                                 entry->second, version));
  add_note(*notes, {.kind = NoteKind::contradictory_opset,
                    .value = domain,
                    .declared = fmt::format("{}", entry->second),
                    .is = fmt::format("{}", version)});
  entry->second = version;  // the last, as ONNX Runtime reads it
  return {};
}

Status check_opset(const std::map<std::string, std::int64_t>& opsets) {
  const auto onnx = opsets.find("");
  if (onnx != opsets.end() && onnx->second < min_opset)
    return unsupported(
        fmt::format("opset {} is not supported: expected {} or later", onnx->second, min_opset));
  return {};
}

Error protobuf_too_large(std::string_view what) {
  return limit_error(
      fmt::format("{}: larger than 2 GiB, the limit of protobuf; save its weights as "
                  "external data",
                  what));
}

namespace {

/// Why a model cannot be read: what the reader says, or that the file is something else.
Error unreadable(Error error, std::string_view begin) {
  const std::string kind = foreign_file(begin);
  if (!kind.empty() && error.kind == ErrorKind::bad_input)
    return bad_input(fmt::format("model: this is not an ONNX model but {}", kind));
  return in_context(std::move(error), "model");
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Result<Model> read_onnx(std::span<const std::byte> bytes, const ExternalData& external_data) {
  if (bytes.size() > max_protobuf_bytes) return protobuf_too_large("model");
  if (bytes.empty()) return bad_input("model: the file is empty");
  const std::string_view message = text_of(bytes);
  try {
    auto model = read_model(message, {external_data});
    if (!model.ok()) return unreadable(std::move(model).error(), message);
    model->sha256 = sha256_hex(bytes);
    return model;
  } catch (const std::bad_alloc&) {
    return limit_error("out of memory");
  }
}

Result<Model> read_onnx(const ByteSource& source, const ExternalData& external_data, Weights weights,
                        Hash hash) {
  if (source.size > max_protobuf_bytes) return protobuf_too_large("model");
  if (source.size == 0) return bad_input("model: the file is empty");
  try {
    const std::vector<std::byte> outline = outline_model(source);
    auto model = read_model(text_of(outline), {external_data, 0, &source, weights == Weights::deferred});
    if (!model.ok()) {
      std::vector<std::byte> begin(std::min<std::uint64_t>(source.size, foreign_file_bytes));
      source.read(0, begin);
      return unreadable(std::move(model).error(), text_of(begin));
    }
    if (hash == Hash::sha256) model->sha256 = sha256_hex(source);
    return model;
  } catch (const std::bad_alloc&) {
    return limit_error("model: out of memory");
  }
}

}  // namespace driftscope
