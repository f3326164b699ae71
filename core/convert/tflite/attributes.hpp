// Attributes of a node, with what TensorFlow takes where one is absent. Clients: operators/, fold_bias.cpp.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "core/convert/tf/tf_graph.hpp"

namespace driftscope::tflite {

/// Null if the node lacks it, or has one of another type.
template <class T>
[[nodiscard]] const T* find_attribute(const tf::Node& node, std::string_view name) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return nullptr;
  return std::visit(
      [](const auto& value) -> const T* {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, T>)
          return &value;
        else
          return nullptr;
      },
      found->second);
}

template <class T>
[[nodiscard]] T attribute(const tf::Node& node, std::string_view name, T otherwise) {
  const T* found = find_attribute<T>(node, name);
  return found != nullptr ? *found : otherwise;
}

}  // namespace driftscope::tflite
