#include "core/model/onnx_reader.hpp"

#include <fmt/format.h>

#include "core/base/sha256.hpp"
#include "core/base/text.hpp"
#include "core/model/onnx_parts.hpp"
#include "core/model/protobuf_fields.hpp"

namespace driftscope {
namespace {

constexpr std::int64_t min_ir_version = 3;

/// A ModelProto, its graph still unread: opset and IR version are judged first.
struct ModelParts {
  Model model;
  std::string producer_version;
  std::optional<std::string_view> graph;
};

/// OperatorSetIdProto: domain = 1, version = 2.
Status read_opset(std::string_view message, Model& model) {
  std::string domain;
  std::int64_t version = 0;
  DRIFTSCOPE_CHECK(read_fields(message, [&](Field& field) -> Status {
    if (field.tag() == 1) return read_name(field, domain);
    if (field.tag() == 2) version = field.integer();
    return {};
  }));
  if (domain == "ai.onnx") domain.clear();
  const auto [entry, added] = model.opsets.emplace(domain, version);
  if (!added && entry->second != version)
    return bad_input(fmt::format("domain {} is imported as opset {} and as opset {}",
                                 in_quotes(domain), entry->second, version));
  return {};
}

/// FunctionProto: name = 1, domain = 10. Names the function in an error.
Error function_error(std::string_view message) {
  std::string name;
  const Status status = read_fields(message, [&](Field& field) -> Status {
    return field.tag() == 1 ? read_name(field, name) : Status();
  });
  return unsupported(fmt::format("functions: the model defines its own function {}, which is not "
                                 "supported; export it with functions inlined",
                                 status.ok() ? in_quotes(name) : "(unreadable)"));
}

Status read_part(Field& field, ModelParts& parts) {
  switch (field.tag()) {
    case 1: parts.model.ir_version = field.integer(); return {};
    case 2: parts.model.producer = field.bytes(); return {};
    case 3: parts.producer_version = field.bytes(); return {};
    case 7:
      if (parts.graph) return bad_input("it holds two graphs");
      parts.graph = field.bytes();
      return {};
    case 8: return read_opset(field.bytes(), parts.model);
    case 25: return function_error(field.bytes());
    default: return {};
  }
}

Status check_versions(const Model& model) {
  if (model.ir_version < min_ir_version)
    return unsupported(fmt::format("IR version {} is not supported: expected {} or later (ONNX 1.0)",
                                   model.ir_version, min_ir_version));
  const auto onnx = model.opsets.find("");
  if (onnx != model.opsets.end() && (onnx->second < min_opset || onnx->second > max_opset))
    return unsupported(fmt::format("opset {} is not supported: expected {} to {}; convert the model "
                                   "with onnx.version_converter",
                                   onnx->second, min_opset, max_opset));
  return {};
}

Result<Model> read_model(std::string_view message, const ExternalData& external_data) {
  ModelParts parts;
  DRIFTSCOPE_CHECK(read_fields(message, [&](Field& field) { return read_part(field, parts); }));
  if (!parts.graph) return bad_input("it holds no graph: this is no ONNX model");
  DRIFTSCOPE_CHECK(check_versions(parts.model));
  auto graph = read_graph(*parts.graph, {external_data});
  if (!graph.ok()) return in_context(std::move(graph).error(), "graph");
  Model& model = parts.model;
  model.graph = *std::move(graph);
  if (!parts.producer_version.empty())
    model.producer += (model.producer.empty() ? "" : " ") + parts.producer_version;
  if (!printable(model.producer)) model.producer = "(unreadable)";
  return std::move(model);
}

}  // namespace

Error protobuf_too_large(std::string_view what) {
  return limit_error(fmt::format("{}: larger than 2 GiB, the limit of protobuf; save its weights as "
                                 "external data",
                                 what));
}

Result<Model> read_onnx(std::span<const std::byte> bytes, const ExternalData& external_data) {
  if (bytes.size() > max_protobuf_bytes) return protobuf_too_large("model");
  if (bytes.empty()) return bad_input("model: the file is empty");
  const std::string_view message(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  auto model = read_model(message, external_data);
  if (!model.ok()) return in_context(std::move(model).error(), "model");
  model->sha256 = sha256_hex(bytes);
  return model;
}

}  // namespace driftscope
