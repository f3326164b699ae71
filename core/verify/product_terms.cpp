#include "core/verify/product_terms.hpp"

#include <memory>
#include <utility>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/convolution.hpp"
#include "core/ops/shared/matrix_batches.hpp"

namespace driftscope {
namespace {

using Reader = std::function<void(std::int64_t, ProductTerms&)>;
using Values = std::span<const float>;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

void read_strided(Values from, std::int64_t begin, std::int64_t step, std::int64_t count,
                  std::vector<float>& to) {
  to.resize(at(count));
  for (std::int64_t k = 0; k < count; ++k) to[at(k)] = from[at(begin + k * step)];
}

Reader read_matmul(const Tensor& a, const Tensor& b, const Shape& y) {
  return [product = MatrixBatches(a.shape(), b.shape(), y), left = a.values<float>(),
          right = b.values<float>()](std::int64_t element, ProductTerms& terms) {
    const std::int64_t column = element % product.columns;
    const std::int64_t row = element / product.columns % product.rows;
    const auto matrices =
        offsets_at(element / product.columns / product.rows, product.batch, product.strides);
    read_strided(left, (matrices[0] * product.rows + row) * product.depth, 1, product.depth, terms.a);
    read_strided(right, matrices[1] * product.depth * product.columns + column, product.columns,
                 product.depth, terms.b);
    terms.start = 0.0;
  };
}

std::optional<Reader> read_gemm(const Node& node, const Tensor& a, const Tensor& b, const Tensor* c,
                                const Shape& y) {
  const auto trans_a = int_attribute(node, "transA", 0);
  const auto trans_b = int_attribute(node, "transB", 0);
  const auto alpha = float_attribute(node, "alpha", 1.0f);
  const auto beta = float_attribute(node, "beta", 1.0f);
  if (!trans_a.ok() || !trans_b.ok() || !alpha.ok() || !beta.ok()) return std::nullopt;
  if (*alpha == 0.0f) return std::nullopt;
  const std::int64_t rows = y[0];
  const std::int64_t columns = y[1];
  const std::int64_t depth = a.shape()[*trans_a != 0 ? 0 : 1];
  const bool left_turned = *trans_a != 0;
  const bool right_turned = *trans_b != 0;
  const Shape strides = c == nullptr ? Shape{0, 0} : broadcast_strides(c->shape(), y);
  const Values shift = c == nullptr ? Values() : c->values<float>();
  return [=, left = a.values<float>(), right = b.values<float>(), scale = static_cast<double>(*alpha),
          weight = static_cast<double>(*beta)](std::int64_t element, ProductTerms& terms) {
    const std::int64_t column = element % columns;
    const std::int64_t row = element / columns;
    read_strided(left, left_turned ? row : row * depth, left_turned ? rows : 1, depth, terms.a);
    read_strided(right, right_turned ? column * depth : column, right_turned ? 1 : columns, depth, terms.b);
    terms.start = 0.0;
    terms.scale = scale;
    if (!shift.empty() && weight != 0.0)
      terms.start = weight / scale * static_cast<double>(shift[at(row * strides[0] + column * strides[1])]);
  };
}

std::optional<Reader> read_conv(const Node& node, const Tensor& x, const Tensor& w, const Tensor* bias) {
  const auto window = read_window(node, Ints(w.shape().begin() + 2, w.shape().end()));
  if (!window.ok()) return std::nullopt;
  auto axes = place_windows(*window, std::span(x.shape()).subspan(2));
  const auto group = read_group(node);
  if (!axes.ok() || !group.ok()) return std::nullopt;
  const auto layout =
      std::make_shared<const ConvolutionLayout>(*std::move(axes), x.shape(), w.shape(), *group);
  return [=, inputs = x.values<float>(), weights = w.values<float>(),
          shift = bias == nullptr ? Values() : bias->values<float>()](std::int64_t element,
                                                                      ProductTerms& terms) {
    const WindowAxis& last = layout->last();
    const std::int64_t column = element % last.output;
    const std::int64_t row = element / last.output % layout->rows;
    const std::int64_t output = element / last.output / layout->rows % layout->outputs;
    const std::int64_t sample = element / last.output / layout->rows / layout->outputs;
    std::vector<RowTap> taps;
    layout->row_taps(row, taps);
    terms.a.clear();
    terms.b.clear();
    const std::int64_t first =
        (sample * layout->x_channels + output / layout->group_outputs * layout->channels) * layout->x_plane;
    for (std::int64_t c = 0; c < layout->channels; ++c)
      for (const RowTap& tap : taps)
        for (std::int64_t k = last.tap_begin(column); k < last.tap_end(column); ++k) {
          const std::int64_t place = first + c * layout->x_plane + tap.input + last.at(column, k);
          terms.a.push_back(inputs[at(place)]);
          terms.b.push_back(weights[at((output * layout->channels + c) * layout->w_plane + tap.weight + k)]);
        }
    terms.start = shift.empty() ? 0.0 : static_cast<double>(shift[at(output)]);
  };
}

}  // namespace

std::optional<SumsOfProducts> SumsOfProducts::of(const Node& node, std::span<const Tensor* const> inputs,
                                                 const Shape& y) {
  if (!node.domain.empty() || inputs.size() < 2 || inputs[0] == nullptr || inputs[1] == nullptr)
    return std::nullopt;
  for (const Tensor* input : inputs)
    if (input != nullptr && (input->dtype() != DType::float32 || input->elements() == 0)) return std::nullopt;
  if (element_count(y) == 0) return std::nullopt;
  const Tensor* third = inputs.size() > 2 ? inputs[2] : nullptr;
  std::optional<Reader> reader;
  if (node.op_type == "MatMul") reader = read_matmul(*inputs[0], *inputs[1], y);
  if (node.op_type == "Gemm") reader = read_gemm(node, *inputs[0], *inputs[1], third, y);
  if (node.op_type == "Conv") reader = read_conv(node, *inputs[0], *inputs[1], third);
  if (!reader) return std::nullopt;
  return SumsOfProducts(*std::move(reader));
}

std::int64_t products_per_element(const Node& node, const Shape& b) {
  if (!node.domain.empty() || b.empty()) return 0;
  if (node.op_type == "MatMul") return b.size() == 1 ? b[0] : b[b.size() - 2];
  if (node.op_type == "Gemm") {
    const auto turned = int_attribute(node, "transB", 0);
    return turned.ok() && b.size() == 2 ? b[*turned != 0 ? 1 : 0] : 0;
  }
  const bool transposed = node.op_type == "ConvTranspose";
  if (node.op_type != "Conv" && !transposed) return 0;
  std::int64_t products = 1;
  for (std::size_t i = 0; i < b.size(); ++i)
    if (i != (transposed ? 1u : 0u)) products *= b[i];
  return products;
}

}  // namespace driftscope
