// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <memory>

#include "core/base/text.hpp"
#include "core/model/onnx_parts.hpp"
#include "core/model/protobuf_fields.hpp"

namespace driftscope {
namespace {

using Graphs = std::vector<std::shared_ptr<const ModelGraph>>;

/// AttributeProto.AttributeType.
enum Kind : std::int64_t {
  kind_float = 1,
  kind_int,
  kind_string,
  kind_tensor,
  kind_graph,
  kind_floats,
  kind_ints,
  kind_strings,
  kind_tensors,
  kind_graphs,
  kind_sparse_tensor,
  kind_sparse_tensors,
  kind_type,
  kind_types,
};

/// All fields of an AttributeProto; `kind` says which one counts.
struct AttributeParts {
  std::string name;
  std::string reference;
  std::int64_t kind = 0;
  float f = 0.0f;
  std::int64_t i = 0;
  std::string s;
  std::optional<Tensor> t;
  std::shared_ptr<const ModelGraph> g;
  std::vector<float> floats;
  std::vector<std::int64_t> ints;
  std::vector<std::string> strings;
  std::vector<Tensor> tensors;
  Graphs graphs;
  bool unheld = false;  ///< a tensor cannot be held here
};

/// Nothing: a valid tensor that cannot be held here (strings, 8-bit floats).
Result<std::optional<Tensor>> attribute_tensor(std::string_view message, const ReadContext& context) {
  NamedTensor named;
  ReadContext now = context;
  now.defer = false;  // kernels read attributes on any thread
  const Status status = read_tensor(message, now, named);
  if (!status.ok() && status.error().kind == ErrorKind::unsupported) return std::optional<Tensor>();
  if (!status.ok()) return status.error();
  return std::optional(std::move(named.tensor));
}

Result<std::shared_ptr<const ModelGraph>> subgraph(std::string_view message, const ReadContext& context) {
  if (context.depth >= max_subgraph_depth)
    return limit_error(fmt::format("graphs are nested deeper than the limit of {}", max_subgraph_depth));
  auto graph = read_graph(message, {context.external_data, context.depth + 1});
  if (!graph.ok()) return in_context(std::move(graph).error(), "subgraph");
  return std::make_shared<const ModelGraph>(*std::move(graph));
}

Status read_part(Field& field, const ReadContext& context, AttributeParts& parts) {
  switch (field.tag()) {
    case 1: return read_name(field, parts.name);
    case 2: parts.f = field.real(); return {};
    case 3: parts.i = field.integer(); return {};
    case 4: parts.s = field.bytes(); return {};
    case 5: {
      DRIFTSCOPE_TRY(parts.t, attribute_tensor(field.bytes(), context));
      parts.unheld = parts.unheld || !parts.t;
      return {};
    }
    case 6: {
      DRIFTSCOPE_TRY(parts.g, subgraph(field.bytes(), context));
      return {};
    }
    case 7: field.append(parts.floats); return {};
    case 8: field.append(parts.ints); return {};
    case 9: parts.strings.emplace_back(field.bytes()); return {};
    case 10: {
      DRIFTSCOPE_TRY(std::optional<Tensor> tensor, attribute_tensor(field.bytes(), context));
      parts.unheld = parts.unheld || !tensor;
      if (tensor) parts.tensors.push_back(*std::move(tensor));
      return {};
    }
    case 11: {
      DRIFTSCOPE_TRY(auto graph, subgraph(field.bytes(), context));
      parts.graphs.push_back(std::move(graph));
      return {};
    }
    case 20: parts.kind = field.integer(); return {};
    case 21: return read_name(field, parts.reference);
    default: return {};
  }
}

Result<Attribute::Value> value_of(AttributeParts& parts) {
  // Without a value, as those below: its operator has no reference here, a runtime may know it.
  if (parts.unheld && (parts.kind == kind_tensor || parts.kind == kind_tensors)) return Attribute::Value();
  switch (parts.kind) {
    case kind_float: return Attribute::Value(parts.f);
    case kind_int: return Attribute::Value(parts.i);
    case kind_string: return Attribute::Value(std::move(parts.s));
    case kind_tensor:
      if (!parts.t) return bad_input("its type is tensor, but it has none");
      return Attribute::Value(*std::move(parts.t));
    case kind_graph:
      if (!parts.g) return bad_input("its type is graph, but it has none");
      return Attribute::Value(std::move(parts.g));
    case kind_floats: return Attribute::Value(std::move(parts.floats));
    case kind_ints: return Attribute::Value(std::move(parts.ints));
    case kind_strings: return Attribute::Value(std::move(parts.strings));
    case kind_tensors: return Attribute::Value(std::move(parts.tensors));
    case kind_graphs: return Attribute::Value(std::move(parts.graphs));
    // Kept without a value: the operator decides whether it needs it.
    case kind_sparse_tensor:
    case kind_sparse_tensors:
    case kind_type:
    case kind_types: return Attribute::Value();
    default: break;
  }
  return bad_input(fmt::format("its type is {}, expected 1 to 14", parts.kind));
}

}  // namespace

Result<Attribute> read_attribute(std::string_view message, const ReadContext& context) {
  AttributeParts parts;
  const auto failed = [&](Error error) {
    return in_context(std::move(error),
                      parts.name.empty() ? "attribute" : "attribute " + in_quotes(parts.name));
  };
  Status status = read_fields(message, [&](Field& field) { return read_part(field, context, parts); });
  if (!status.ok()) return failed(std::move(status).error());
  if (parts.name.empty()) return failed(bad_input("it has no name"));
  if (!parts.reference.empty()) return Attribute{std::move(parts.name), {}, std::move(parts.reference)};
  auto value = value_of(parts);
  if (!value.ok()) return failed(std::move(value).error());
  return Attribute{std::move(parts.name), *std::move(value), {}};
}

}  // namespace driftscope
