#include "core/graph/graph.hpp"

namespace driftscope {

std::optional<Shape> Value::static_shape() const {
  if (constant) return constant->shape();
  if (!shape) return std::nullopt;
  Shape sizes;
  for (const Dimension& dimension : *shape) {
    if (!dimension.known()) return std::nullopt;
    sizes.push_back(dimension.size);
  }
  return sizes;
}

std::vector<ValueId> Node::reads() const {
  std::vector<ValueId> values = inputs;
  values.insert(values.end(), captured.begin(), captured.end());
  return values;
}

const Attribute* Node::attribute(std::string_view attribute_name) const {
  for (const Attribute& attribute : attributes)
    if (attribute.name == attribute_name) return &attribute;
  return nullptr;
}

std::optional<ValueId> Graph::find_value(std::string_view value_name) const {
  for (std::size_t id = 0; id < values.size(); ++id)
    if (values[id].name == value_name) return static_cast<ValueId>(id);
  return std::nullopt;
}

std::string Graph::value_name(ValueId id) const { return id < values.size() ? values[id].name : "(omitted)"; }

}  // namespace driftscope
