// Values of inputs that kernels get wrong: subnormals, ties, zeros of both signs, the limits of types. A kind
// of values is a file in fills/: each FOO.cpp defines `void driftscope::hunt_fills::foo::add_to(FillTable&)`;
// the table is generated from the folder at configure time, never edited. Clients: the generator of graphs,
// the search for inputs.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/rng.hpp"
#include "core/model/tensor.hpp"

namespace driftscope::hunt {

struct Fill {
  int order = 50;
  std::string_view name;
  int weight = 1;  ///< how often it is drawn, beside the others'
  /// Makes the elements of one tensor, in C order.
  std::function<double()> (*make)(Rng rng) = nullptr;
};

class FillTable {
 public:
  void add(const Fill& fill);
  /// In their order.
  [[nodiscard]] std::span<const Fill> all() const { return fills_; }

 private:
  std::vector<Fill> fills_;
};

/// All of this build (generated: build/generated/hunt_fill_registry.cpp).
[[nodiscard]] const FillTable& fill_table();

[[nodiscard]] const Fill& draw_fill(Rng& rng);

/// Of a floating type, or of an integer one, where numbers are rounded and limited to the type's range.
[[nodiscard]] Result<Tensor> filled(DType dtype, const Shape& shape, const Fill& fill, Rng& rng);

/// The nearest element, limited to the range of integers. The creator of the tensor only.
void store_number(Tensor& tensor, std::size_t i, double value);

}  // namespace driftscope::hunt
