// Compiled for size on the web (cmake/core.cmake).
#include "core/model/inside_outputs.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <set>
#include <string_view>

#include "core/model/onnx_fields.hpp"
#include "core/model/onnx_parts.hpp"
#include "core/model/onnx_reader.hpp"
#include "core/model/protobuf_fields.hpp"

namespace driftscope {
namespace {

constexpr std::int32_t attribute_is_tensor = 4;

std::int32_t onnx_number(DType dtype) {
  for (std::int32_t number = 1; number < 64; ++number)
    if (dtype_from_onnx(number) == dtype) return number;
  return 0;
}

/// Calls on_field(tag, contents, raw) for every field; contents only of those that have a length, and raw is
/// the whole field.
using OnField = std::function<Status(std::uint32_t tag, std::string_view contents, std::string_view raw)>;
Status for_fields(std::string_view message, const OnField& on_field) {
  try {
    protozero::pbf_reader reader(message.data(), message.size());
    while (true) {
      const std::size_t begin = message.size() - reader.data().size();
      if (!reader.next()) break;
      const bool has_length = reader.wire_type() == protozero::pbf_wire_type::length_delimited;
      Field field(reader);
      const std::string_view contents = has_length ? field.bytes() : std::string_view();
      field.skip_if_unread();
      const std::size_t end = message.size() - reader.data().size();
      DRIFTSCOPE_CHECK(on_field(field.tag(), contents, message.substr(begin, end - begin)));
    }
  } catch (const protozero::exception& exception) {
    return protobuf_error(exception);
  }
  return {};
}

void add_node(std::string& graph, std::string_view op, std::string_view input, std::string_view output,
              std::string_view attribute) {
  std::string node;
  protozero::pbf_writer writer(node);
  if (!input.empty())
    writer.add_string(onnx_field::node_input, protozero::data_view(input.data(), input.size()));
  writer.add_string(onnx_field::node_output, protozero::data_view(output.data(), output.size()));
  writer.add_string(onnx_field::node_op_type, protozero::data_view(op.data(), op.size()));
  if (!attribute.empty())
    writer.add_message(onnx_field::node_attribute, protozero::data_view(attribute.data(), attribute.size()));
  protozero::pbf_writer(graph).add_message(onnx_field::graph_node, node);
}

// A Constant: an int64 scalar, or an empty tensor of a type.
void add_constant(std::string& graph, std::string_view output, DType dtype, const std::int64_t* scalar) {
  std::string tensor;
  protozero::pbf_writer writer(tensor);
  if (scalar == nullptr) writer.add_int64(onnx_field::tensor_dims, 0);
  writer.add_int32(onnx_field::tensor_dtype, onnx_number(dtype));
  std::string bytes;
  for (int i = 0; scalar != nullptr && i < 8; ++i)  // little-endian
    bytes += static_cast<char>(static_cast<std::uint64_t>(*scalar) >> (8 * i) & 0xff);
  writer.add_bytes(onnx_field::tensor_raw, bytes);
  std::string attribute;
  protozero::pbf_writer attribute_writer(attribute);
  attribute_writer.add_string(onnx_field::attribute_name, "value");
  attribute_writer.add_message(onnx_field::attribute_tensor, tensor);
  attribute_writer.add_int32(onnx_field::attribute_type, attribute_is_tensor);
  add_node(graph, "Constant", "", output, attribute);
}

void add_graph_output(std::string& graph, const std::string& name) {
  std::string info;
  protozero::pbf_writer(info).add_string(onnx_field::value_info_name, name);
  protozero::pbf_writer(graph).add_message(onnx_field::graph_output, info);
}

// A name may be used once in a graph and those around it; `depth` graphs are around this one.
std::string name_at(const std::string& name, int depth) {
  return depth == 0 ? name : name + "@" + std::to_string(depth);
}

// Outputs of a node beyond its own, in the order in which all its subgraphs give them.
struct Slot {
  std::string name;
  DType dtype = DType::undefined;
};
void collect_slots(const InsideOutputs& one, std::vector<Slot>& slots) {
  slots.push_back({one.marker, DType::int64});
  for (const SubgraphOutputs& subgraph : one.subgraphs) {
    for (const InsideValue& value : subgraph.outputs) slots.push_back({value.output, value.dtype});
    for (const InsideOutputs& inner : subgraph.inside) collect_slots(inner, slots);
  }
}
std::vector<Slot> slots_of(const InsideOutputs& one) {
  std::vector<Slot> slots;
  collect_slots(one, slots);
  return slots;
}

// What is read of a node.
struct NodeHead {
  std::string made;  // its first output
  std::string op;    // empty for those without subgraphs
};
Result<NodeHead> head_of(std::string_view message) {
  NodeHead head;
  std::string domain;
  DRIFTSCOPE_CHECK(read_fields(message, [&](Field& field) -> Status {
    if (field.tag() == onnx_field::node_output && head.made.empty()) return read_name(field, head.made);
    if (field.tag() == onnx_field::node_op_type) return read_name(field, head.op);
    return field.tag() == onnx_field::node_domain ? read_name(field, domain) : Status();
  }));
  const bool known = head.op == "If" || head.op == "Loop" || head.op == "Scan";
  if (!known || !(domain.empty() || domain == "ai.onnx") || head.made.empty()) head.op.clear();
  return head;
}

Result<std::set<std::string>> made_in(std::string_view graph) {
  std::set<std::string> made;
  DRIFTSCOPE_CHECK(for_fields(
      graph, [&](std::uint32_t tag, std::string_view contents, std::string_view /*raw*/) -> Status {
        if (tag != onnx_field::graph_node) return {};
        return read_fields(contents, [&](Field& field) -> Status {
          if (field.tag() != onnx_field::node_output) return {};
          std::string name;
          DRIFTSCOPE_CHECK(read_name(field, name));
          made.insert(std::move(name));
          return {};
        });
      }));
  return made;
}

bool is_subgraph(std::string_view op, std::string_view attribute) {
  if (op == "If") return attribute == "then_branch" || attribute == "else_branch";
  return attribute == "body";
}

// What Scan says of each stacked output.
bool is_list_of_outputs(std::string_view op, std::string_view attribute) {
  return op == "Scan" && (attribute == "scan_output_axes" || attribute == "scan_output_directions");
}

// Makes `slots` outputs of a subgraph: the values that it makes, and empty tensors for those of another one.
void give_slots(std::string& graph, std::span<const Slot> slots, const InsideOutputs& one,
                std::string_view attribute, int depth) {
  const auto subgraph = std::ranges::find(one.subgraphs, attribute, &SubgraphOutputs::attribute);
  std::set<std::string> from_inside;
  std::map<std::string_view, std::string_view> values;  // by output
  if (subgraph != one.subgraphs.end()) {
    for (std::string& name : names_of(subgraph->inside)) from_inside.insert(std::move(name));
    for (const InsideValue& value : subgraph->outputs) values[value.output] = value.value;
  }
  for (const Slot& slot : slots) {
    const std::string name = name_at(slot.name, depth);
    if (slot.name == one.marker) {
      const std::int64_t taken = attribute == "else_branch" ? 0 : 1;
      add_constant(graph, name, DType::int64, &taken);
    } else if (const auto value = values.find(slot.name); value != values.end()) {
      add_node(graph, "Identity", value->second, name, "");
    } else if (!from_inside.contains(slot.name)) {
      add_constant(graph, name, slot.dtype, nullptr);
    }
    add_graph_output(graph, name);
  }
}

class Rewriter {
 public:
  /// GraphProto whose nodes make the outputs of `nodes`; `depth` graphs are around it.
  Result<std::string> graph(std::string_view message, std::vector<InsideOutputs>& nodes, int depth) {
    if (depth > max_subgraph_depth) return limit_error("graphs inside graphs are nested too deeply");
    std::string result;
    std::set<std::string> found;
    DRIFTSCOPE_CHECK(for_fields(
        message, [&](std::uint32_t tag, std::string_view contents, std::string_view raw) -> Status {
          NodeHead head;
          if (tag == onnx_field::graph_node) {
            DRIFTSCOPE_TRY(head, head_of(contents));
          }
          const auto one = std::ranges::find(nodes, head.made, &InsideOutputs::made);
          if (head.op.empty() || one == nodes.end()) {
            result.append(raw);
            return {};
          }
          found.insert(head.made);
          DRIFTSCOPE_TRY(const std::string changed, node(contents, head.op, *one, depth));
          protozero::pbf_writer(result).add_message(onnx_field::graph_node, changed);
          return {};
        }));
    std::erase_if(nodes, [&](const InsideOutputs& one) { return !found.contains(one.made); });
    return result;
  }

 private:
  struct NamedAttribute {
    std::string name;
    std::string graph;  // with the nodes inside it changed; empty where nothing is wanted of it
  };

  Result<std::string> node(std::string_view message, std::string_view op, InsideOutputs& one, int depth) {
    // First what the subgraphs hold, since both branches must give all outputs of both.
    DRIFTSCOPE_TRY(const auto attributes, read_attributes(message, one, depth));
    std::erase_if(one.subgraphs, [&](const SubgraphOutputs& subgraph) {
      return std::ranges::find(attributes, subgraph.attribute, &NamedAttribute::name) == attributes.end();
    });
    const std::vector<Slot> slots = slots_of(one);
    std::string result;
    auto next = attributes.begin();
    DRIFTSCOPE_CHECK(for_fields(
        message, [&](std::uint32_t tag, std::string_view contents, std::string_view raw) -> Status {
          if (tag != onnx_field::node_attribute) {
            result.append(raw);
            return {};
          }
          const NamedAttribute& attribute = *next++;
          if (is_subgraph(op, attribute.name)) {
            DRIFTSCOPE_TRY(const std::string changed, with_slots(contents, attribute, slots, one, depth + 1));
            protozero::pbf_writer(result).add_message(onnx_field::node_attribute, changed);
          } else if (is_list_of_outputs(op, attribute.name)) {
            std::string longer(contents);
            for (std::size_t i = 0; i < slots.size(); ++i)
              protozero::pbf_writer(longer).add_int64(onnx_field::attribute_ints, 0);
            protozero::pbf_writer(result).add_message(onnx_field::node_attribute, longer);
          } else {
            result.append(raw);
          }
          return {};
        }));
    for (const Slot& slot : slots)
      protozero::pbf_writer(result).add_string(onnx_field::node_output, name_at(slot.name, depth));
    return result;
  }

  // Of a node, in their order. Values that a subgraph does not make are taken out of `one`.
  Result<std::vector<NamedAttribute>> read_attributes(std::string_view message, InsideOutputs& one,
                                                      int depth) {
    std::vector<NamedAttribute> attributes;
    DRIFTSCOPE_CHECK(for_fields(
        message, [&](std::uint32_t tag, std::string_view contents, std::string_view /*raw*/) -> Status {
          if (tag != onnx_field::node_attribute) return {};
          NamedAttribute attribute;
          DRIFTSCOPE_CHECK(read_fields(contents, [&](Field& field) -> Status {
            return field.tag() == onnx_field::attribute_name ? read_name(field, attribute.name) : Status();
          }));
          const auto subgraph = std::ranges::find(one.subgraphs, attribute.name, &SubgraphOutputs::attribute);
          if (subgraph != one.subgraphs.end()) {
            DRIFTSCOPE_TRY(attribute.graph, inner_graph(contents, *subgraph, depth));
          }
          attributes.push_back(std::move(attribute));
          return {};
        }));
    return attributes;
  }

  Result<std::string> inner_graph(std::string_view attribute, SubgraphOutputs& subgraph, int depth) {
    std::string changed;
    DRIFTSCOPE_CHECK(for_fields(
        attribute, [&](std::uint32_t tag, std::string_view contents, std::string_view /*raw*/) -> Status {
          if (tag != onnx_field::attribute_graph) return {};
          DRIFTSCOPE_TRY(const auto made, made_in(contents));
          std::erase_if(subgraph.outputs,
                        [&](const InsideValue& value) { return !made.contains(value.value); });
          DRIFTSCOPE_TRY(changed, graph(contents, subgraph.inside, depth + 1));
          return {};
        }));
    return changed;
  }

  static Result<std::string> with_slots(std::string_view message, const NamedAttribute& attribute,
                                        std::span<const Slot> slots, const InsideOutputs& one, int depth) {
    std::string result;
    DRIFTSCOPE_CHECK(for_fields(
        message, [&](std::uint32_t tag, std::string_view contents, std::string_view raw) -> Status {
          if (tag != onnx_field::attribute_graph) {
            result.append(raw);
            return {};
          }
          std::string graph = attribute.graph.empty() ? std::string(contents) : attribute.graph;
          give_slots(graph, slots, one, attribute.name, depth);
          protozero::pbf_writer(result).add_message(onnx_field::attribute_graph, graph);
          return {};
        }));
    return result;
  }
};

}  // namespace

std::vector<std::string> names_of(std::span<const InsideOutputs> nodes) {
  std::vector<std::string> names;
  for (const InsideOutputs& one : nodes)
    for (const Slot& slot : slots_of(one)) names.push_back(slot.name);
  return names;
}

Result<std::vector<std::byte>> with_inside_outputs(std::span<const std::byte> model,
                                                   std::vector<InsideOutputs>& nodes) {
  const std::string_view whole(reinterpret_cast<const char*>(model.data()), model.size());
  std::string result;
  bool has_graph = false;
  auto status =
      for_fields(whole, [&](std::uint32_t tag, std::string_view contents, std::string_view raw) -> Status {
        if (tag != onnx_field::model_graph) {
          result.append(raw);
          return {};
        }
        if (has_graph) return bad_input("it contains two graphs");
        has_graph = true;
        DRIFTSCOPE_TRY(const std::string changed, Rewriter().graph(contents, nodes, 0));
        if (changed.size() > max_protobuf_bytes)
          return protobuf_too_large("the model with values as outputs");
        protozero::pbf_writer(result).add_message(onnx_field::model_graph, changed);
        return {};
      });
  if (!status.ok()) return in_context(std::move(status).error(), "model");
  if (!has_graph) return bad_input("model: it contains no graph: this is not an ONNX model");
  if (result.size() > max_protobuf_bytes) return protobuf_too_large("the model with values as outputs");
  const auto bytes = std::as_bytes(std::span(result));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

}  // namespace driftscope
