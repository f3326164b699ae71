// com.microsoft DynamicQuantizeLSTM: LSTM whose weights are 8-bit integers, transposed (W [directions,
// inputs, 4 · hidden], R [directions, hidden, 4 · hidden]), with scales and zero points per direction or
// column. X as a whole, and before each step the states h of all sequences together, are quantized by
// DynamicQuantizeLinear; the products are MatMulInteger's, times the scales. The cell is that of LSTM
// (core/ops/lstm.cpp).
//
// Strict definition (float): a gate's sum is (W's product + (Wb + Rb)) + R's product; then as in LSTM. As
// there, each step is judged from the states that an engine recorded as Y.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/composition.hpp"
#include "core/ops/shared/inferred_parts.hpp"
#include "core/ops/shared/integer_products.hpp"
#include "core/ops/shared/recurrent_run.hpp"

namespace driftscope::ops::dynamic_quantize_lstm {

constexpr std::array<std::string_view, 12> names = {
    "X",         "W",           "R", "B",       "sequence_lens",
    "initial_h", "initial_c",   "P", "W_scale", "W_zero_point",
    "R_scale",   "R_zero_point"};
constexpr std::size_t w_scale = 8, r_scale = 10;

const RecurrentKind& kind() {
  static const RecurrentKind lstm{4, true, {"Sigmoid", "Tanh", "Tanh"}};
  return lstm;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_given(context, {0, 1, 2, 8, 9, 10, 11}, names));
  for (const std::size_t i : {0u, 3u, 5u, 6u, 7u, 8u, 10u})
    DRIFTSCOPE_CHECK(expect_dtype(context, i, names[i], {DType::float32}));
  for (const std::size_t i : {1u, 2u, 9u, 11u}) DRIFTSCOPE_CHECK(expect_bytes(context, i, names[i]));
  std::vector<TensorType> types = all_inputs(context);
  types.resize(8);
  for (const std::size_t i : {1u, 2u}) {
    DRIFTSCOPE_CHECK(expect_rank(context, i, names[i], 3, 3));
    const Dimension directions = dimension_of(context, i, 0);
    const Dimension columns = dimension_of(context, i, 2);
    types[i].dtype = DType::float32;
    if (types[i].shape) std::swap((*types[i].shape)[1], (*types[i].shape)[2]);
    // One for each direction, or for each of its columns.
    const std::size_t scale = i == 1 ? w_scale : r_scale;
    for (const std::size_t parameter : {scale, scale + 1}) {
      const bool per_column = context.input(parameter).shape && context.input(parameter).shape->size() == 2;
      DRIFTSCOPE_CHECK(
          expect_shape(context, parameter, names[parameter],
                       per_column ? SymbolicShape{directions, columns} : SymbolicShape{directions}));
    }
  }
  return infer_part(context, "LSTM", std::move(types), context.node().attributes.items(),
                    context.node().outputs.size());
}

// The products with one direction's weights.
template <class S>
class QuantizedWeights {
 public:
  using Value = const Evaluated<S>*;

  static Result<QuantizedWeights> make(Composition<S>& parts, std::size_t weights, std::size_t scale,
                                       std::int64_t direction) {
    DRIFTSCOPE_TRY(const Tensor index, Tensor::from_values<std::int64_t>({}, std::array{direction}));
    const Value at = parts.keep(known<S>(index));
    QuantizedWeights made;
    DRIFTSCOPE_TRY(made.steps_, parts.one("Gather", {parts.input(weights), at}));
    DRIFTSCOPE_TRY(made.scale_, parts.one("Gather", {parts.input(scale), at}));
    DRIFTSCOPE_TRY(made.zero_, parts.one("Gather", {parts.input(scale + 1), at}));
    return made;
  }

  /// Of a float value [.., depth], quantized as a whole.
  Result<std::vector<S>> product(Composition<S>& parts, Value x) const {
    DRIFTSCOPE_TRY(const auto quantized, parts.all("DynamicQuantizeLinear", {x}, {}, 3));
    DRIFTSCOPE_TRY(const Value sums, parts.one("MatMulInteger", {quantized[0], steps_, quantized[2], zero_}));
    DRIFTSCOPE_TRY(const Value numbers,
                   parts.one("Cast", {sums}, {{"to", static_cast<std::int64_t>(DType::float32)}}));
    DRIFTSCOPE_TRY(const Value scale, parts.one("Mul", {quantized[1], scale_}));
    DRIFTSCOPE_TRY(const Value result, parts.one("Mul", {numbers, scale}));
    return parts.elements(result);
  }

 private:
  Value steps_ = nullptr, scale_ = nullptr, zero_ = nullptr;
};

// The states of all sequences, [batch, hidden] each, and what leads from one step to the next.
template <class S>
struct Cell {
  std::int64_t batch = 0, hidden = 0;
  CellWeights<S> weights;  // without matrices: biases, peepholes, activations
  std::vector<S> h, c;

  /// `sums`: W's and R's products for each sequence, gates i, o, f, c one behind another.
  void advance(std::span<const S> of_x, std::span<const S> of_h) {
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t j = 0; j < hidden; ++j) {
        const auto at = static_cast<std::size_t>(b * hidden + j);
        const auto gate = [&](std::int64_t number) {
          const auto place = static_cast<std::size_t>((b * 4 + number) * hidden + j);
          const auto column = static_cast<std::size_t>(number * hidden + j);
          S sum = of_x[place];
          if (!weights.b.empty())
            sum = sum + (weights.b[column] + weights.b[static_cast<std::size_t>(4 * hidden) + column]);
          return sum + of_h[place];
        };
        const auto peephole = [&](const S& sum, std::int64_t which, const S& cell) {
          return weights.p.empty() ? sum
                                   : sum + weights.p[static_cast<std::size_t>(which * hidden + j)] * cell;
        };
        const S i = weights.activated(0, peephole(gate(0), 0, c[at]));
        const S f =
            weights.variant ? math::exact<S>(1.0) - i : weights.activated(0, peephole(gate(2), 2, c[at]));
        c[at] = f * c[at] + i * weights.activated(1, gate(3));
        const S o = weights.activated(0, peephole(gate(1), 1, c[at]));
        h[at] = o * weights.activated_cell(c[at]);
      }
  }
};

template <class S>
class Run {
 public:
  Run(KernelContext<S>& context, const RecurrentAttributes& attributes, const RecurrentLayout& layout)
      : context_(context), attributes_(attributes), layout_(layout), observed_(observed_states(context)) {}

  Status direction(std::int64_t d) {
    using namespace recurrent_input;
    Composition<S> parts(context_);
    DRIFTSCOPE_TRY(const auto inputs, QuantizedWeights<S>::make(parts, w, w_scale, d));
    DRIFTSCOPE_TRY(const auto states, QuantizedWeights<S>::make(parts, r, r_scale, d));
    DRIFTSCOPE_TRY(const std::vector<S> of_x, inputs.product(parts, parts.input(x)));
    DRIFTSCOPE_TRY(Cell<S> cell, start(d));
    const auto size = static_cast<std::size_t>(layout_.batch * layout_.hidden);
    for (std::int64_t step = 0; step < layout_.steps; ++step) {
      const std::int64_t t = attributes_.reversed(d) ? layout_.steps - 1 - step : step;
      Composition<S> of_step(context_);
      const auto h = of_step.keep({DType::float32, {layout_.batch, layout_.hidden}, cell.h, {}});
      DRIFTSCOPE_TRY(const std::vector<S> of_h, states.product(of_step, h));
      cell.advance(std::span(of_x).subspan(static_cast<std::size_t>(t) * 4 * size, 4 * size), of_h);
      put(0, layout_.y_row(t, d, 0), cell.h);
      if constexpr (std::is_same_v<S, Bounded>)
        if (!observed_.empty() && step + 1 < layout_.steps) {
          const auto seen = observed_.subspan(static_cast<std::size_t>(layout_.y_row(t, d, 0)), size);
          for (std::size_t i = 0; i < size; ++i) cell.h[i] = Bounded(static_cast<double>(seen[i]));
        }
    }
    put(1, layout_.state_row(d, 0), cell.h);
    put(2, layout_.state_row(d, 0), cell.c);
    return {};
  }

 private:
  Result<Cell<S>> start(std::int64_t d) const {
    using namespace recurrent_input;
    DRIFTSCOPE_TRY(const bool coupled, flag_attribute(context_.node(), "input_forget", false));
    const auto size = static_cast<std::size_t>(layout_.batch * layout_.hidden);
    const auto part = [&](std::size_t input, std::size_t count) {
      if (!context_.has_input(input)) return std::vector<S>();
      const auto values = context_.real(input).subspan(static_cast<std::size_t>(d) * count, count);
      return std::vector<S>(values.begin(), values.end());
    };
    Cell<S> cell;
    cell.batch = layout_.batch;
    cell.hidden = layout_.hidden;
    cell.weights.hidden = layout_.hidden;
    cell.weights.b = part(b, static_cast<std::size_t>(8 * layout_.hidden));
    cell.weights.p = part(p, static_cast<std::size_t>(3 * layout_.hidden));
    for (std::size_t i = 0; i < attributes_.per_direction; ++i)
      cell.weights.activations.push_back(attributes_.activation(d, i));
    cell.weights.clip = attributes_.clip;
    cell.weights.variant = coupled;
    cell.h = part(initial_h, size);
    cell.c = part(initial_c, size);
    cell.h.resize(size, math::exact<S>(0.0));
    cell.c.resize(size, math::exact<S>(0.0));
    return cell;
  }

  void put(std::size_t output, std::int64_t row, const std::vector<S>& values) {
    if (!context_.wants_output(output)) return;
    std::copy(values.begin(), values.end(),
              context_.real_output(output).begin() + static_cast<std::ptrdiff_t>(row));
  }

  KernelContext<S>& context_;
  const RecurrentAttributes& attributes_;
  const RecurrentLayout& layout_;
  std::span<const float> observed_;
};

struct DynamicQuantizeLstm {
  template <class S>
  static Status run(KernelContext<S>& context) {
    using namespace recurrent_input;
    DRIFTSCOPE_TRY(const RecurrentAttributes attributes, read_recurrent(context.node(), kind()));
    if (attributes.batch_first) return unsupported("DynamicQuantizeLSTM with a layout: it has none");
    const Shape& weights = context.shape(r);
    const RecurrentLayout layout(attributes, context.shape(x), {weights[0], weights[2], weights[1]});
    if (layout.steps == 0 || layout.batch == 0 || layout.hidden == 0) return {};
    DRIFTSCOPE_TRY(const auto lengths,
                   sequence_lengths(
                       context.has_input(sequence_lens) ? &context.tensor(sequence_lens) : nullptr, layout));
    // What the states of a sequence that has ended add to the range of the others is left open.
    if (std::ranges::any_of(lengths, [&](std::int64_t length) { return length != layout.steps; }))
      return unsupported("sequences of different lengths: how they are quantized together is not defined");
    Run<S> run(context, attributes, layout);
    for (std::int64_t d = 0; d < layout.directions; ++d) DRIFTSCOPE_CHECK(run.direction(d));
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<DynamicQuantizeLstm>({.op_type = "DynamicQuantizeLSTM",
                                               .domain = microsoft_domain,
                                               .inputs = {1, 12},
                                               .outputs = {0, 3},
                                               .infer = infer,
                                               .uses_recorded_state = true}));
}

}  // namespace driftscope::ops::dynamic_quantize_lstm
