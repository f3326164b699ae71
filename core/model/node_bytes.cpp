#include "core/model/node_bytes.hpp"

#include <type_traits>

namespace driftscope {
namespace {

using GraphPointer = std::shared_ptr<const ModelGraph>;

std::int64_t bytes_of(const std::string& text) {
  return static_cast<std::int64_t>(sizeof(text) + text.size());
}
std::int64_t bytes_of(const Tensor& tensor) {
  return static_cast<std::int64_t>(sizeof(tensor) + tensor.shape().size() * sizeof(std::int64_t));
}
std::int64_t bytes_of(const GraphPointer& graph) {
  return static_cast<std::int64_t>(sizeof(graph)) + (graph == nullptr ? 0 : driftscope::bytes_of(*graph));
}
std::int64_t bytes_of(const ValueInfo& info) {
  auto bytes = static_cast<std::int64_t>(sizeof(info) + info.name.size());
  if (info.shape)
    for (const Dimension& dimension : *info.shape)
      bytes += static_cast<std::int64_t>(sizeof(dimension) + dimension.symbol.size());
  return bytes;
}

template <class T>
std::int64_t bytes_of_all(const std::vector<T>& list) {
  std::int64_t bytes = 0;
  for (const T& one : list) bytes += bytes_of(one);
  return bytes;
}

struct BytesOfValue {
  std::int64_t operator()(const std::string& text) const { return bytes_of(text); }
  std::int64_t operator()(const Tensor& tensor) const { return bytes_of(tensor); }
  std::int64_t operator()(const GraphPointer& graph) const { return bytes_of(graph); }
  template <class T>
  std::int64_t operator()(const std::vector<T>& list) const {
    if constexpr (std::is_arithmetic_v<T>)
      return static_cast<std::int64_t>(list.size() * sizeof(T));
    else
      return bytes_of_all(list);
  }
  template <class T>
  std::int64_t operator()(const T&) const {  // as large as its place in the variant
    return 0;
  }
};

}  // namespace

std::int64_t bytes_of(const Attribute::Value& value) {
  return static_cast<std::int64_t>(sizeof(value)) + std::visit(BytesOfValue{}, value);
}

std::int64_t bytes_of(const ModelNode& node) {
  auto bytes = static_cast<std::int64_t>(sizeof(node) + node.name.size() + node.op_type.size() +
                                         node.domain.size() + node.overload.size());
  bytes += bytes_of_all(node.inputs) + bytes_of_all(node.outputs);
  for (const Attribute& attribute : node.attributes)
    bytes += bytes_of(attribute.name) + bytes_of(attribute.reference) + bytes_of(attribute.value);
  return bytes;
}

std::int64_t bytes_of(const ModelGraph& graph) {
  auto bytes = static_cast<std::int64_t>(sizeof(graph) + graph.name.size());
  for (const ModelNode& node : graph.nodes) bytes += bytes_of(node);
  for (const NamedTensor& initializer : graph.initializers)
    bytes += bytes_of(initializer.name) + bytes_of(initializer.tensor);
  for (const UnsupportedTensor& initializer : graph.unsupported_initializers)
    bytes += bytes_of(initializer.name) + bytes_of(initializer.reason);
  return bytes + bytes_of_all(graph.inputs) + bytes_of_all(graph.outputs) + bytes_of_all(graph.value_infos);
}

}  // namespace driftscope
