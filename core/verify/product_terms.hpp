// The factors behind each output element of a node that sums products, one element at a time: for
// summing a sample of them in another way. MatMul, Gemm, Conv of any rank.
// Clients: lower_precision. It sums nothing itself.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/model/tensor.hpp"

namespace driftscope {

/// An element is scale·(start + Σ a[k]·b[k]).
struct ProductTerms {
  std::vector<float> a;
  std::vector<float> b;
  double start = 0.0;
  double scale = 1.0;
};

class SumsOfProducts {
 public:
  /// The inputs in the order of node.reads(), null where omitted; they must outlive this. `y`: the shape of
  /// output 0. Nothing for other operators, or if an input is not a float32 tensor.
  [[nodiscard]] static std::optional<SumsOfProducts> of(const Node& node,
                                                        std::span<const Tensor* const> inputs,
                                                        const Shape& y);

  /// Of element number `element` of output 0.
  void read(std::int64_t element, ProductTerms& terms) const { read_(element, terms); }

 private:
  using Reader = std::function<void(std::int64_t, ProductTerms&)>;
  explicit SumsOfProducts(Reader read) : read_(std::move(read)) {}

  Reader read_;
};

/// The largest number of products in an element of output 0, from the shape of input 1; 0 for operators other
/// than MatMul, Gemm, Conv and ConvTranspose.
[[nodiscard]] std::int64_t products_per_element(const Node& node, const Shape& b);

}  // namespace driftscope
