// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/model/onnx_parts.hpp"
#include "core/model/protobuf_fields.hpp"

namespace driftscope {
namespace {

/// "node 12", "node 12 'conv'".
std::string label(std::string_view kind, std::size_t index, const std::string& name) {
  return name.empty() ? fmt::format("{} {}", kind, index)
                      : fmt::format("{} {} {}", kind, index, in_quotes(name));
}

/// "ai.onnx" is another name of the ONNX domain.
std::string domain_of(std::string domain) { return domain == "ai.onnx" ? "" : std::move(domain); }

}  // namespace

Result<ModelNode> read_node(std::string_view message, std::size_t index, const ReadContext& context) {
  ModelNode node;
  Status status = read_fields(message, [&](Field& field) -> Status {
    switch (field.tag()) {
      case 1: return read_name(field, node.inputs.emplace_back());
      case 2: return read_name(field, node.outputs.emplace_back());
      case 3: return read_name(field, node.name);
      case 4: return read_name(field, node.op_type);
      case 5: {
        DRIFTSCOPE_TRY(Attribute attribute, read_attribute(field.bytes(), context));
        node.attributes.push_back(std::move(attribute));
        return {};
      }
      case 7: {
        DRIFTSCOPE_TRY(std::string domain, field.name());
        node.domain = domain_of(std::move(domain));
        return {};
      }
      case 8: return read_name(field, node.overload);
      default: return {};
    }
  });
  if (status.ok()) return node;
  std::string where = label("node", index, node.name);
  if (!node.op_type.empty()) where += fmt::format(" ({})", in_quotes(node.op_type));
  return in_context(std::move(status).error(), where);
}

namespace {

/// TensorShapeProto.Dimension: dim_value = 1, dim_param = 2.
Result<Dimension> read_dimension(std::string_view message) {
  Dimension dimension;
  DRIFTSCOPE_CHECK(read_fields(message, [&](Field& field) -> Status {
    if (field.tag() == 2) return read_name(field, dimension.symbol);
    if (field.tag() != 1) return {};
    dimension.size = field.integer();
    return {};
  }));
  if (dimension.known()) dimension.symbol.clear();
  return dimension;
}

Result<SymbolicShape> read_shape(std::string_view message) {
  SymbolicShape shape;
  DRIFTSCOPE_CHECK(read_fields(message, [&](Field& field) -> Status {
    if (field.tag() != 1) return {};
    if (shape.size() == max_rank) return limit_error(fmt::format("more than {} dimensions", max_rank));
    DRIFTSCOPE_TRY(Dimension dimension, read_dimension(field.bytes()));
    shape.push_back(std::move(dimension));
    return {};
  }));
  return shape;
}

/// TypeProto.Tensor: elem_type = 1, shape = 2.
Status read_tensor_type(std::string_view message, ValueInfo& info, std::string& other_type) {
  return read_fields(message, [&](Field& field) -> Status {
    if (field.tag() == 1) {
      const std::int64_t number = field.integer();
      info.dtype = dtype_from_onnx(number).value_or(DType::undefined);
      if (info.dtype == DType::undefined && number != 0)
        other_type = fmt::format("tensor with elements of ONNX type {}", number);
    } else if (field.tag() == 2) {
      DRIFTSCOPE_TRY(info.shape, read_shape(field.bytes()));
    }
    return {};
  });
}

std::string_view other_type_name(std::uint32_t tag) {
  switch (tag) {
    case 4: return "sequence";
    case 5: return "map";
    case 7: return "opaque value";
    case 8: return "sparse tensor";
    case 9: return "optional";
    default: return "";
  }
}

Status read_type(std::string_view message, ValueInfo& info, std::string& other_type) {
  return read_fields(message, [&](Field& field) -> Status {
    if (field.tag() == 1) return read_tensor_type(field.bytes(), info, other_type);
    if (const auto other = other_type_name(field.tag()); !other.empty()) other_type = other;
    return {};
  });
}

Error of_other_type(std::string_view kind, std::size_t index, const ValueInfo& info,
                    const std::string& other_type) {
  return unsupported(
      fmt::format("{}: its type is {}; only dense tensors of the types known here can be inputs and outputs",
                  label(kind, index, info.name), other_type));
}

/// Reads one ValueInfoProto of a list; inputs of the model itself must be tensors.
Status add_value_info(Field& field, std::string_view kind, bool must_be_tensor,
                      std::vector<ValueInfo>& list) {
  std::string other_type;
  auto info = read_value_info(field.bytes(), other_type);
  if (!info.ok()) return in_context(std::move(info).error(), fmt::format("{} {}", kind, list.size()));
  if (must_be_tensor && !other_type.empty()) return of_other_type(kind, list.size(), *info, other_type);
  list.push_back(*std::move(info));
  return {};
}

/// Outputs of the model that are no tensors are set apart: runtimes make them, and the others are compared.
Status add_output(Field& field, bool outermost, ModelGraph& graph) {
  const std::size_t index = graph.outputs.size() + graph.other_outputs.size();
  std::string other_type;
  auto info = read_value_info(field.bytes(), other_type);
  if (!info.ok()) return in_context(std::move(info).error(), fmt::format("output {}", index));
  if (outermost && other_type.empty() && info->dtype == DType::string) other_type = "tensor of strings";
  if (outermost && !other_type.empty())
    graph.other_outputs.push_back({std::move(info->name), std::move(other_type)});
  else
    graph.outputs.push_back(*std::move(info));
  return {};
}

Status add_initializer(std::string_view message, const ReadContext& context, ModelGraph& graph) {
  const std::size_t index = graph.initializers.size() + graph.unsupported_initializers.size();
  NamedTensor named;
  Status status = read_tensor(message, context, named);
  if (status.ok()) {
    graph.initializers.push_back(std::move(named));
    return {};
  }
  if (status.error().kind != ErrorKind::unsupported)
    return in_context(std::move(status).error(), label("initializer", index, named.name));
  graph.unsupported_initializers.push_back({std::move(named.name), std::move(status).error().message});
  return {};
}

/// SparseTensorProto: its values, which have the name, are field 1.
Status add_sparse_initializer(std::string_view message, const ReadContext& context, ModelGraph& graph) {
  NamedTensor values;
  Status status = read_fields(message, [&](Field& field) -> Status {
    return field.tag() == 1 ? read_tensor(field.bytes(), context, values) : Status();
  });
  if (!status.ok() && status.error().kind != ErrorKind::unsupported)
    return in_context(std::move(status).error(), "sparse_initializer");
  graph.unsupported_initializers.push_back(
      {std::move(values.name), "sparse tensors cannot be held here; save them as dense initializers"});
  return {};
}

Status read_part(Field& field, const ReadContext& context, ModelGraph& graph) {
  const bool outermost = context.depth == 0;
  switch (field.tag()) {
    case 1: {
      DRIFTSCOPE_TRY(ModelNode node, read_node(field.bytes(), graph.nodes.size(), context));
      graph.nodes.push_back(std::move(node));
      return {};
    }
    case 2: return read_name(field, graph.name);
    case 5: return add_initializer(field.bytes(), context, graph);
    case 11: return add_value_info(field, "input", outermost, graph.inputs);
    case 12: return add_output(field, outermost, graph);
    case 13: return add_value_info(field, "value_info", false, graph.value_infos);
    case 15: return add_sparse_initializer(field.bytes(), context, graph);
    default: return {};
  }
}

}  // namespace

Result<ValueInfo> read_value_info(std::string_view message, std::string& other_type) {
  ValueInfo info;
  Status status = read_fields(message, [&](Field& field) -> Status {
    if (field.tag() == 1) return read_name(field, info.name);
    if (field.tag() == 2) return read_type(field.bytes(), info, other_type);
    return {};
  });
  if (status.ok()) return info;
  return info.name.empty() ? std::move(status).error()
                           : in_context(std::move(status).error(), in_quotes(info.name));
}

Result<ModelGraph> read_graph(std::string_view message, const ReadContext& context) {
  ModelGraph graph;
  DRIFTSCOPE_CHECK(read_fields(message, [&](Field& field) { return read_part(field, context, graph); }));
  return graph;
}

}  // namespace driftscope
