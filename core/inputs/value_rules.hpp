// What an input that nobody gave should hold, by its name and type: ones in a mask, zeros in a state,
// positions that ascend, a rate of 16000. Client: found inputs. Numbers come from there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"

namespace driftscope {

/// One input with its size, among all of the model.
struct WantedInput {
  const Graph& bound;  ///< shapes of inputs are known
  std::size_t place;   ///< in bound.inputs
  [[nodiscard]] const Value& value() const { return bound.values[bound.inputs[place]]; }
};

/// The values of an input that are not random.
struct FixedValues {
  std::string text;                          ///< "ones", "16000"
  std::vector<std::int64_t> numbers;         ///< repeated over the elements
  std::optional<std::int64_t> ascends_from;  ///< along the last axis, in place of numbers
};

/// Nothing: random, within what the model's operators allow.
[[nodiscard]] std::optional<FixedValues> fixed_values(const WantedInput& input);

}  // namespace driftscope
