// MatMulInteger and QLinearMatMul on simd/gemm with pairs: two neighbours along k, less their zero points,
// are one element. For integers the order of summation does not matter.
#include <algorithm>

#include "core/engines/strict/kernel_table.hpp"
#include "core/engines/strict/matrix_product.hpp"
#include "core/engines/strict/simd/quantize.hpp"
#include "core/ops/shared/integer_products.hpp"

namespace driftscope::strict::integer_matmul {

constexpr std::size_t none = 99;

// The indices of the inputs; QLinearMatMul has all of them.
struct Inputs {
  std::size_t a, a_zero, b, b_zero;
  std::size_t a_scale = none, b_scale = none, y_scale = none, y_zero = none;
};
constexpr Inputs matmul_integer{.a = 0, .a_zero = 2, .b = 1, .b_zero = 3};
constexpr Inputs qlinear_matmul{
    .a = 0, .a_zero = 2, .b = 3, .b_zero = 5, .a_scale = 1, .b_scale = 4, .y_scale = 6, .y_zero = 7};

template <class Body>
void with_bytes(const Tensor& tensor, const Body& body) {
  if (tensor.dtype() == DType::uint8)
    body(tensor.values<std::uint8_t>().data());
  else
    body(tensor.values<std::int8_t>().data());
}

// A parameter per line (rows of A, columns of B): 0 if absent.
struct Zeros {
  std::vector<std::int32_t> values;
  PerLine line;
  Zeros(const Tensor* tensor, std::int64_t lines)
      : values(tensor == nullptr ? std::vector<std::int32_t>(1, 0) : quantized_values(*tensor)),
        line(static_cast<std::int64_t>(values.size()), lines) {}
  [[nodiscard]] std::int32_t at(std::int64_t batch, std::int64_t i) const {
    return values[line.at(batch, i)];
  }
};

class IntegerMatMulKernel final : public StrictKernel {
 public:
  IntegerMatMulKernel(const StrictSite& site, const Inputs& roles)
      : site_(site),
        roles_(roles),
        product_(*site.shape(roles.a), *site.shape(roles.b), *site.output_shape()),
        kernels_(pair_kernels(site.simd)),
        simd_(quantize_kernels(site.simd)),
        y_shape_(*site.output_shape()) {
    b_is_constant_ = site.constant(roles.b) != nullptr &&
                     (!site.has_input(roles.b_zero) || site.constant(roles.b_zero) != nullptr);
    if (b_is_constant_)
      pack_b(*site.constant(roles.b), site.has_input(roles.b_zero) ? site.constant(roles.b_zero) : nullptr);
  }

  Result<std::vector<Tensor>> run(std::span<const Tensor* const> inputs) override {
    const auto given = [&](std::size_t i) { return site_.has_input(i) ? inputs[i] : nullptr; };
    if (!b_is_constant_) pack_b(*inputs[roles_.b], given(roles_.b_zero));
    const Zeros a_zeros(given(roles_.a_zero), product_.rows);
    const std::int64_t size = product_.rows * product_.columns;
    std::vector<std::int32_t> sums(static_cast<std::size_t>(product_.batches * size), 0);
    for (std::int64_t batch = 0; batch < product_.batches && !is_empty(); ++batch) {
      const auto at = offsets_at(batch, std::span<const std::int64_t>(product_.batch), product_.strides);
      const auto rows = pack_a(*inputs[roles_.a], a_zeros, at[0]);
      accumulate_product(kernels_, rows, b_[static_cast<std::size_t>(at[1])], sums.data() + batch * size,
                         product_.columns, site_.threads);
    }
    if (roles_.y_scale != none) return requantize(inputs, sums);
    std::vector<Tensor> outputs;
    DRIFTSCOPE_TRY(outputs.emplace_back(), Tensor::from_values<std::int32_t>(y_shape_, sums));
    return outputs;
  }

 private:
  [[nodiscard]] bool is_empty() const { return element_count(y_shape_) == 0; }
  [[nodiscard]] std::int64_t depth() const { return (product_.depth + 1) / 2; }

  void pack_b(const Tensor& b, const Tensor* zero_point) {
    const Zeros zeros(zero_point, product_.columns);
    b_.clear();
    if (is_empty()) return;
    const std::int64_t matrix = product_.depth * product_.columns;
    std::int64_t matrices = 1;  // also where they have no rows
    for (std::size_t axis = 0; axis + 2 < b.shape().size(); ++axis) matrices *= b.shape()[axis];
    std::vector<std::int32_t> pairs(static_cast<std::size_t>(depth() * product_.columns));
    with_bytes(b, [&](const auto* values) {
      for (std::int64_t i = 0; i < matrices; ++i, values += matrix) {
        const auto at = [&](std::int64_t k, std::int64_t column) {
          return k < product_.depth ? values[k * product_.columns + column] - zeros.at(i, column) : 0;
        };
        for (std::int64_t k = 0; k < depth(); ++k)
          for (std::int64_t column = 0; column < product_.columns; ++column)
            pairs[static_cast<std::size_t>(k * product_.columns + column)] =
                pair_of(at(2 * k, column), at(2 * k + 1, column));
        b_.emplace_back(kernels_,
                        MatrixViewOf<std::int32_t>{.data = pairs.data(),
                                                   .rows = depth(),
                                                   .columns = product_.columns,
                                                   .row_step = product_.columns},
                        site_.threads);
      }
    });
  }

  PackedRowsOf<std::int32_t> pack_a(const Tensor& a, const Zeros& zeros, std::int64_t matrix) const {
    std::vector<std::int32_t> pairs(static_cast<std::size_t>(product_.rows * depth()));
    with_bytes(a, [&](const auto* values) {
      values += matrix * product_.rows * product_.depth;
      for (std::int64_t row = 0; row < product_.rows; ++row, values += product_.depth) {
        const std::int32_t zero = zeros.at(matrix, row);
        std::int32_t* out = pairs.data() + row * depth();
        for (std::int64_t k = 0; k + 1 < product_.depth; k += 2)
          *out++ = pair_of(values[k] - zero, values[k + 1] - zero);
        if (product_.depth % 2 != 0) *out = pair_of(values[product_.depth - 1] - zero, 0);
      }
    });
    return {kernels_,
            {.data = pairs.data(), .rows = product_.rows, .columns = depth(), .row_step = depth()},
            site_.threads};
  }

  // Each row with the factors of its columns, a_scale · b_scale / y_scale as the scalar kernel has them.
  Result<std::vector<Tensor>> requantize(std::span<const Tensor* const> inputs,
                                         const std::vector<std::int32_t>& sums) const {
    const auto scales = [&](std::size_t i) { return inputs[i]->values<float>(); };
    const auto line = [&](std::size_t i, std::int64_t lines) {
      return PerLine(inputs[i]->elements(), lines);
    };
    const PerLine a_line = line(roles_.a_scale, product_.rows);
    const PerLine b_line = line(roles_.b_scale, product_.columns);
    const PerLine y_line = line(roles_.y_scale, product_.rows);
    const Zeros zeros(inputs[roles_.y_zero], product_.rows);
    DRIFTSCOPE_TRY(Tensor y, Tensor::make(inputs[roles_.y_zero]->dtype(), y_shape_, "output y"));
    const IntegerRange range = *quantized_range(y.dtype());
    auto* out = reinterpret_cast<std::uint8_t*>(y.mutable_bytes().data());
    const bool one_factor = inputs[roles_.b_scale]->elements() == 1;
    std::vector<float> factors(static_cast<std::size_t>(one_factor ? 1 : product_.columns));
    for (std::int64_t row = 0; row < product_.batches * product_.rows; ++row) {
      const std::int64_t batch = row / product_.rows;
      const std::int64_t i = row % product_.rows;
      const auto at = offsets_at(batch, std::span<const std::int64_t>(product_.batch), product_.strides);
      for (std::size_t j = 0; j < factors.size(); ++j)
        factors[j] = scales(roles_.a_scale)[a_line.at(at[0], i)] *
                     scales(roles_.b_scale)[b_line.at(at[1], static_cast<std::int64_t>(j))] /
                     scales(roles_.y_scale)[y_line.at(batch, i)];
      const ByteSteps steps{zeros.at(batch, i), static_cast<std::int32_t>(range.low),
                            static_cast<std::int32_t>(range.high)};
      const std::int32_t* from = sums.data() + row * product_.columns;
      std::uint8_t* to = out + row * product_.columns;
      const auto count = static_cast<std::size_t>(product_.columns);
      if (one_factor)
        simd_.requantize(from, factors[0], steps, to, count);
      else
        simd_.requantize_each(from, factors.data(), steps, to, count);
    }
    std::vector<Tensor> outputs;
    outputs.push_back(std::move(y));
    return outputs;
  }

  StrictSite site_;
  Inputs roles_;
  MatrixBatches product_;
  PairKernels kernels_;
  QuantizeKernels simd_;
  Shape y_shape_;
  std::vector<PackedColumnsOf<std::int32_t>> b_;  // per matrix of B
  bool b_is_constant_ = false;
};

bool is_byte(const StrictSite& site, std::size_t i) {
  return !site.has_input(i) || site.dtype(i) == DType::uint8 || site.dtype(i) == DType::int8;
}

std::unique_ptr<StrictKernel> prepare(const StrictSite& site, const Inputs& roles) {
  for (const std::size_t i : {roles.a, roles.a_zero, roles.b, roles.b_zero, roles.y_zero})
    if (!is_byte(site, i)) return nullptr;
  for (const std::size_t i : {roles.a_scale, roles.b_scale, roles.y_scale})
    if (i != none && site.dtype(i) != DType::float32) return nullptr;
  if (!site.shape(roles.a) || !site.shape(roles.b) || !site.output_shape() ||
      element_count(*site.output_shape()) == 0)
    return nullptr;
  return std::make_unique<IntegerMatMulKernel>(site, roles);
}

void add_to(StrictKernelTable& table) {
  table.add("MatMulInteger", [](const StrictSite& site) { return prepare(site, matmul_integer); });
  table.add("QLinearMatMul", [](const StrictSite& site) { return prepare(site, qlinear_matmul); });
}

}  // namespace driftscope::strict::integer_matmul
