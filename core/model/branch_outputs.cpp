#include "core/model/branch_outputs.hpp"

#include <algorithm>
#include <functional>
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

// Outputs of an If beyond its own, in the order in which both branches give them.
struct Slot {
  std::string name;
  DType dtype = DType::undefined;
};
void collect_slots(const IfOutputs& one, std::vector<Slot>& slots) {
  slots.push_back({one.marker, DType::int64});
  for (const BranchOutputs& branch : one.branches) {
    for (const BranchOutput& output : branch.outputs) slots.push_back({output.output, output.dtype});
    for (const IfOutputs& inner : branch.inside) collect_slots(inner, slots);
  }
}
std::vector<Slot> slots_of(const IfOutputs& one) {
  std::vector<Slot> slots;
  collect_slots(one, slots);
  return slots;
}

class Rewriter {
 public:
  /// GraphProto with the outputs of `ifs`, which are at `depth`; `made` are its values.
  Result<std::string> graph(std::string_view message, std::vector<IfOutputs>& ifs, int depth) {
    if (depth > max_subgraph_depth) return limit_error("graphs inside graphs are nested too deeply");
    std::string result;
    std::set<std::string> found;
    DRIFTSCOPE_CHECK(for_fields(
        message, [&](std::uint32_t tag, std::string_view contents, std::string_view raw) -> Status {
          if (tag == onnx_field::graph_node) {
            DRIFTSCOPE_TRY(const std::string first, first_if_output(contents));
            const auto one = std::ranges::find(ifs, first, &IfOutputs::made);
            if (!first.empty() && one != ifs.end()) {
              found.insert(first);
              DRIFTSCOPE_TRY(const std::string changed, node(contents, *one, depth));
              protozero::pbf_writer(result).add_message(onnx_field::graph_node, changed);
              return {};
            }
          }
          result.append(raw);
          return {};
        }));
    std::erase_if(ifs, [&](const IfOutputs& one) { return !found.contains(one.made); });
    return result;
  }

 private:
  // Of an If; empty for other nodes.
  static Result<std::string> first_if_output(std::string_view message) {
    std::string first;
    bool is_if = false;
    DRIFTSCOPE_CHECK(read_fields(message, [&](Field& field) -> Status {
      if (field.tag() == onnx_field::node_output && first.empty()) return read_name(field, first);
      if (field.tag() == onnx_field::node_op_type) {
        is_if = field.bytes() == "If";
      }
      return {};
    }));
    return is_if ? first : std::string();
  }

  static Result<std::set<std::string>> made_in(std::string_view graph) {
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

  Result<std::string> node(std::string_view message, IfOutputs& one, int depth) {
    // First what the branches hold, since both must give all outputs of both.
    std::vector<std::string> names;
    std::vector<std::string> attributes;
    DRIFTSCOPE_CHECK(for_fields(
        message, [&](std::uint32_t tag, std::string_view contents, std::string_view /*raw*/) -> Status {
          if (tag != onnx_field::node_attribute) return {};
          std::string name;
          std::string changed;
          DRIFTSCOPE_CHECK(read_fields(contents, [&](Field& field) -> Status {
            return field.tag() == onnx_field::attribute_name ? read_name(field, name) : Status();
          }));
          const auto branch = std::ranges::find(one.branches, name, &BranchOutputs::attribute);
          if (branch != one.branches.end()) {
            DRIFTSCOPE_TRY(changed, inner_graph(contents, *branch, depth));
          }
          names.push_back(std::move(name));
          attributes.push_back(std::move(changed));
          return {};
        }));
    std::erase_if(one.branches, [&](const BranchOutputs& branch) {
      return std::ranges::find(names, branch.attribute) == names.end();
    });
    const std::vector<Slot> slots = slots_of(one);

    std::string result;
    std::size_t place = 0;
    DRIFTSCOPE_CHECK(for_fields(
        message, [&](std::uint32_t tag, std::string_view contents, std::string_view raw) -> Status {
          const std::size_t at = tag == onnx_field::node_attribute ? place++ : 0;
          if (tag != onnx_field::node_attribute ||
              (names[at] != "then_branch" && names[at] != "else_branch")) {
            result.append(raw);
            return {};
          }
          const auto branch = std::ranges::find(one.branches, names[at], &BranchOutputs::attribute);
          std::string attribute;
          DRIFTSCOPE_CHECK(for_fields(
              contents, [&](std::uint32_t inner, std::string_view graph, std::string_view whole) -> Status {
                if (inner != onnx_field::attribute_graph) {
                  attribute.append(whole);
                  return {};
                }
                std::string body = branch == one.branches.end() ? std::string(graph) : attributes[at];
                give_slots(body, slots, one, names[at], branch == one.branches.end() ? nullptr : &*branch,
                           depth + 1);
                protozero::pbf_writer(attribute).add_message(onnx_field::attribute_graph, body);
                return {};
              }));
          protozero::pbf_writer(result).add_message(onnx_field::node_attribute, attribute);
          return {};
        }));
    for (const Slot& slot : slots)
      protozero::pbf_writer(result).add_string(onnx_field::node_output, name_at(slot.name, depth));
    return result;
  }

  // The graph of an attribute with the Ifs inside it changed; values that it does not make are taken out.
  Result<std::string> inner_graph(std::string_view attribute, BranchOutputs& branch, int depth) {
    std::string changed;
    DRIFTSCOPE_CHECK(for_fields(
        attribute, [&](std::uint32_t tag, std::string_view contents, std::string_view /*raw*/) -> Status {
          if (tag != onnx_field::attribute_graph) return {};
          DRIFTSCOPE_TRY(const auto made, made_in(contents));
          std::erase_if(branch.outputs,
                        [&](const BranchOutput& output) { return !made.contains(output.value); });
          DRIFTSCOPE_TRY(changed, graph(contents, branch.inside, depth + 1));
          return {};
        }));
    return changed;
  }

  // What the branch makes of the outputs, and empty tensors for those of the other one.
  static void give_slots(std::string& body, std::span<const Slot> slots, const IfOutputs& one,
                         std::string_view attribute, const BranchOutputs* branch, int depth) {
    std::set<std::string> from_inside;
    if (branch != nullptr)
      for (const std::string& name : names_of(branch->inside)) from_inside.insert(name);
    for (const Slot& slot : slots) {
      const std::string name = name_at(slot.name, depth);
      const auto own = branch == nullptr
                           ? std::vector<BranchOutput>::const_iterator()
                           : std::ranges::find(branch->outputs, slot.name, &BranchOutput::output);
      if (slot.name == one.marker) {
        const std::int64_t then = attribute == "then_branch" ? 1 : 0;
        add_constant(body, name, DType::int64, &then);
      } else if (branch != nullptr && own != branch->outputs.end()) {
        add_node(body, "Identity", own->value, name, "");
      } else if (!from_inside.contains(slot.name)) {
        add_constant(body, name, slot.dtype, nullptr);
      }
      add_graph_output(body, name);
    }
  }
};

}  // namespace

std::vector<std::string> names_of(std::span<const IfOutputs> ifs) {
  std::vector<std::string> names;
  for (const IfOutputs& one : ifs)
    for (const Slot& slot : slots_of(one)) names.push_back(slot.name);
  return names;
}

Result<std::vector<std::byte>> with_branch_outputs(std::span<const std::byte> model,
                                                   std::vector<IfOutputs>& ifs) {
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
        DRIFTSCOPE_TRY(const std::string changed, Rewriter().graph(contents, ifs, 0));
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
