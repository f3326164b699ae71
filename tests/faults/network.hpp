// Small networks, and the ways in which a node goes wrong. Clients: families.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/base/half.hpp"
#include "tests/faults/kind.hpp"

namespace driftscope::faults {

// Attributes.
[[nodiscard]] Attribute integer(std::string name, std::int64_t value);
[[nodiscard]] Attribute real(std::string name, float value);
[[nodiscard]] Attribute text(std::string name, std::string value);
[[nodiscard]] Attribute ints(std::string name, std::vector<std::int64_t> value);

// Tensors. `spread` times a standard normal, plus `mean`.
[[nodiscard]] Tensor normal(Rng& rng, const Shape& shape, float spread = 1.0f, float mean = 0.0f);
[[nodiscard]] Tensor uniform(Rng& rng, const Shape& shape, float low, float high);
template <class T>
[[nodiscard]] Tensor tensor(const Shape& shape, const std::vector<T>& values) {
  return *Tensor::from_values<T>(shape, values);
}
template <class T>
[[nodiscard]] Tensor integers(Rng& rng, const Shape& shape, std::int64_t low, std::int64_t high) {
  std::vector<T> values;
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<T>(
        low + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(high - low + 1)))));
  return tensor<T>(shape, values);
}
/// The same numbers in another floating type.
[[nodiscard]] Tensor as_dtype(const Tensor& values, DType dtype);

/// One node between two others, so that an error has a predecessor and a successor: a graph input is first
/// doubled if it is floating, and the target's output goes through Identity.
struct Chain {
  std::string op;
  std::vector<Tensor> inputs;     ///< of the graph
  std::vector<Tensor> constants;  ///< the node's further inputs
  std::vector<Attribute> attributes = {};
  std::size_t outputs = 1;
  DType dtype = DType::float32;           ///< floating inputs and constants are converted to it
  std::vector<std::size_t> omitted = {};  ///< indices among all inputs of the node that are left out
};
[[nodiscard]] Network network_of(const Chain& chain);

// Faults.
/// The node with another attribute; with none of that name.
[[nodiscard]] Fault attribute(Attribute changed);
[[nodiscard]] Fault no_attribute(std::string name);
/// Uses another operator on the same inputs.
[[nodiscard]] Fault as_op(std::string op, std::vector<Attribute> attributes = {});
/// Input `place` changed before, output 0 changed after.
[[nodiscard]] Fault input(std::size_t place, std::function<Tensor(const Tensor&)> change);
[[nodiscard]] Fault output(std::function<Tensor(const Tensor&)> change);
/// Every floating input changed.
[[nodiscard]] Fault inputs(std::function<Tensor(const Tensor&)> change);
/// An optional input left out.
[[nodiscard]] Fault without_input(std::size_t place);
/// Inputs `a` and `b` exchanged.
[[nodiscard]] Fault swapped(std::size_t a, std::size_t b);

// Changes of a tensor.
using Change = std::function<Tensor(const Tensor&)>;
/// Each element of a floating tensor, as a number; `index`: its place.
[[nodiscard]] Change each(std::function<double(double value, std::int64_t index)> change);
/// The same of any type.
[[nodiscard]] Change each_number(std::function<double(double value, std::int64_t index)> change);
/// As through a format with so many bits of fraction (TF32: 10, bfloat16: 7).
[[nodiscard]] Change rounded_to(int fraction);
[[nodiscard]] Change through_float16();
/// The slices [from, size) along an axis become 0; those before them are unchanged.
[[nodiscard]] Change zero_from(std::size_t axis, std::int64_t from_end);
/// Slices rotated by one along an axis.
[[nodiscard]] Change rolled(std::size_t axis);
/// Two slices along an axis exchanged: the first and the last.
[[nodiscard]] Change ends_exchanged(std::size_t axis);
/// The last slice along an axis repeats the previous one: a stale buffer.
[[nodiscard]] Change last_repeated(std::size_t axis);
/// The last two axes exchanged in memory, the shape kept.
[[nodiscard]] Change transposed_in_place();
[[nodiscard]] Change scaled(double factor);
/// One element replaced.
[[nodiscard]] Change element(std::int64_t index, double value);

}  // namespace driftscope::faults
