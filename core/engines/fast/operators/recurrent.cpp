// LSTM, GRU and RNN with constant weights and the default activations: W·x of all steps as one fully
// connected operator of XNNPACK, then R·h and the gates step by step (simd/recurrent.hpp), without
// allocation.
#include <algorithm>
#include <array>

#include "core/engines/fast/lowering.hpp"
#include "core/engines/fast/simd/recurrent.hpp"
#include "core/engines/strict/simd/aligned.hpp"
#include "core/ops/support/attributes.hpp"
#include "core/ops/support/recurrent.hpp"

namespace driftscope::fast::recurrent {

enum class Cell { rnn, gru, lstm };

RecurrentKind kind_of(Cell cell) {
  switch (cell) {
    case Cell::rnn: return {1, false, {"Tanh"}};
    case Cell::gru: return {3, false, {"Sigmoid", "Tanh"}};
    default: return {4, true, {"Sigmoid", "Tanh", "Tanh"}};
  }
}

// Rows of `weights` (columns of the product) `first` to first + count, packed for add_product.
struct Packed {
  AlignedFloats data;
  std::int64_t blocks = 0;

  Packed() = default;
  Packed(const float* weights, std::int64_t count, std::int64_t depth, std::int64_t block)
      : data((count + block - 1) / block * block * depth), blocks((count + block - 1) / block) {
    float* to = data.data();
    for (std::int64_t b = 0; b < blocks; ++b)
      for (std::int64_t k = 0; k < depth; ++k)
        for (std::int64_t j = b * block; j < (b + 1) * block; ++j)
          *to++ = j < count ? weights[j * depth + k] : 0.0f;
  }
};

// One direction: where it reads and writes, and what it keeps.
struct Direction {
  std::int64_t number = 0;
  bool reversed = false;
  Packed r;            // all gates; for GRU without linear_before_reset z and r
  Packed r_candidate;  // GRU without linear_before_reset
  std::vector<float> candidate_bias;  // GRU with it: Rb of the candidate
  BufferId products = no_buffer;      // W·x and the biases, a row for each step and sequence
};

class RecurrentStep final : public Step {
 public:
  RecurrentStep(Cell cell, bool linear_before_reset, const RecurrentLayout& layout,
                const RecurrentKernels& kernels, std::int64_t row, Direction direction,
                std::array<BufferId, 2> initial, std::array<BufferId, 3> outputs)
      : cell_(cell),
        linear_before_reset_(linear_before_reset),
        layout_(layout),
        kernels_(kernels),
        row_(row),
        direction_(std::move(direction)),
        initial_(initial),
        outputs_(outputs),
        h_(layout.batch * layout.hidden),
        c_(layout.batch * layout.hidden),
        sums_(row),
        spare_(row) {}

  Status bind(const Memory& memory) override {
    products_ = memory.at<const float>(direction_.products);
    for (std::size_t i = 0; i < initial_.size(); ++i)
      start_[i] = initial_[i] == no_buffer ? nullptr : memory.at<const float>(initial_[i]);
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      out_[i] = outputs_[i] == no_buffer ? nullptr : memory.at<float>(outputs_[i]);
    return {};
  }

  Status run(Memory& /*memory*/) override {
    const std::int64_t hidden = layout_.hidden;
    const std::array<float*, 2> states = {h_.data(), c_.data()};
    for (std::size_t i = 0; i < 2; ++i)
      for (std::int64_t n = 0; n < layout_.batch; ++n) {
        float* state = states[i] + n * hidden;
        if (start_[i] == nullptr) std::fill_n(state, hidden, 0.0f);
        else std::copy_n(start_[i] + layout_.state_row(direction_.number, n), hidden, state);
      }
    for (std::int64_t step = 0; step < layout_.steps; ++step) {
      const std::int64_t t = direction_.reversed ? layout_.steps - 1 - step : step;
      for (std::int64_t n = 0; n < layout_.batch; ++n) {
        float* h = h_.data() + n * hidden;
        advance(products_ + layout_.x_row(t, n) / layout_.inputs * row_, h, c_.data() + n * hidden);
        if (out_[0] != nullptr)
          std::copy_n(h, hidden, out_[0] + layout_.y_row(t, direction_.number, n));
      }
    }
    for (std::size_t i = 0; i < 2; ++i)
      for (std::int64_t n = 0; n < layout_.batch && out_[i + 1] != nullptr; ++n)
        std::copy_n(states[i] + n * hidden, hidden,
                    out_[i + 1] + layout_.state_row(direction_.number, n));
    return {};
  }

 private:
  // One step of one sequence; `products`: W·x and the biases of all gates.
  void advance(const float* products, float* h, float* c) {
    const std::int64_t hidden = layout_.hidden;
    float* sums = sums_.data();
    std::copy_n(products, row_, sums);
    if (cell_ == Cell::gru && linear_before_reset_)
      std::copy_n(direction_.candidate_bias.data(), hidden, sums + 2 * hidden);
    kernels_.add_product(direction_.r.data.data(), h, hidden, direction_.r.blocks, sums);
    if (cell_ == Cell::lstm) return kernels_.lstm(sums, hidden, c, h);
    if (cell_ == Cell::rnn) return kernels_.rnn(sums, hidden, h);
    if (linear_before_reset_)
      return kernels_.gru(sums, products + 2 * hidden, sums + 2 * hidden, hidden, h);
    float* candidate = spare_.data();
    float* product = candidate + row_ - hidden;
    kernels_.reset(sums + hidden, h, hidden, product);
    std::copy_n(products + 2 * hidden, hidden, candidate);
    kernels_.add_product(direction_.r_candidate.data.data(), product, hidden,
                         direction_.r_candidate.blocks, candidate);
    kernels_.update(sums, candidate, hidden, h);
  }

  Cell cell_;
  bool linear_before_reset_;
  RecurrentLayout layout_;
  RecurrentKernels kernels_;
  std::int64_t row_;  // floats of one row of products: whole blocks
  Direction direction_;
  std::array<BufferId, 2> initial_;  // h, c
  std::array<BufferId, 3> outputs_;  // Y, Y_h, Y_c
  AlignedFloats h_;
  AlignedFloats c_;
  AlignedFloats sums_;
  AlignedFloats spare_;
  const float* products_ = nullptr;
  std::array<const float*, 2> start_{};
  std::array<float*, 3> out_{};
};

bool default_activations(const RecurrentAttributes& attributes, const RecurrentKind& kind) {
  for (std::size_t i = 0; i < attributes.activations.size(); ++i) {
    const bool tanh = kind.default_activations[i % attributes.per_direction] == "Tanh";
    if (attributes.activations[i].kind !=
        (tanh ? Activation::Kind::tanh : Activation::Kind::sigmoid))
      return false;
  }
  return !attributes.clip.has_value();
}

// W·x + Wb, and Rb where it is added before anything else happens to it.
Result<bool> place_products(Lowering& lowering, const Node& node, const RecurrentLayout& layout,
                            const float* w, const std::vector<float>& bias, std::int64_t row,
                            BufferId out) {
  const auto inputs = static_cast<std::size_t>(layout.inputs);
  const Clamp all;
  xnn_operator_t raw = nullptr;
  if (xnn_create_fully_connected_nc_f32(inputs, bias.size(), inputs, static_cast<std::size_t>(row),
                                        w, bias.data(), all.min, all.max, 0, nullptr, nullptr,
                                        &raw) != xnn_status_success)
    return false;
  XnnOperator op(raw);
  const std::int64_t rows = layout.steps * layout.batch;
  const pthreadpool_t pool = lowering.pool_for(rows * layout.inputs * row);
  if (xnn_reshape_fully_connected_nc_f32(raw, static_cast<std::size_t>(rows), pool) !=
      xnn_status_success)
    return false;
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(node.inputs[recurrent_input::x], {}));
  lowering.emit(std::move(op), pool, {in}, {out}, [=](xnn_operator_t it, const Memory& memory) {
    return xnn_setup_fully_connected_nc_f32(it, memory.at<const float>(in), memory.at<float>(out));
  });
  return true;
}

template <Cell cell>
Result<bool> lower(Lowering& lowering, const Node& node) {
  using namespace recurrent_input;
  const RecurrentKind kind = kind_of(cell);
  const auto attributes = read_recurrent(node, kind);
  if (!attributes.ok() || !default_activations(*attributes, kind)) return false;
  const auto coupled = flag_attribute(node, "input_forget", false);
  const auto linear = int_attribute(node, "linear_before_reset", 0);
  if (!coupled.ok() || *coupled || !linear.ok()) return false;
  for (const std::size_t i : {sequence_lens, p})
    if (lowering.has_input(node, i)) return false;
  std::array<const Tensor*, 3> given{};  // W, R, B
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!lowering.has_input(node, w + i)) continue;
    given[i] = lowering.constant(node.inputs[w + i]);
    if (given[i] == nullptr || given[i]->dtype() != DType::float32) return false;
  }
  if (!lowering.is_float(node.inputs[x])) return false;
  for (const std::size_t i : {initial_h, initial_c})
    if (lowering.has_input(node, i) && !lowering.is_float(node.inputs[i])) return false;
  for (const ValueId output : node.outputs)
    if (output != no_value && !lowering.is_float(output)) return false;

  const RecurrentLayout layout(*attributes, lowering.shape(node.inputs[x]), given[1]->shape());
  if (layout.hidden == 0 || layout.inputs == 0) return false;
  const bool before_reset = cell == Cell::gru && *linear != 0;
  const RecurrentKernels kernels = recurrent_kernels(lowering.simd());
  const std::int64_t columns = kind.gates * layout.hidden;
  // Room for whole blocks behind the candidate's sums as well, which begin anywhere.
  const std::int64_t row =
      (columns + kernels.block - 1) / kernels.block * kernels.block + kernels.block;

  std::array<BufferId, 2> initial = {no_buffer, no_buffer};
  for (std::size_t i = 0; i < 2; ++i)
    if (lowering.has_input(node, initial_h + i)) {
      DRIFTSCOPE_TRY(initial[i], lowering.read(node.inputs[initial_h + i], {}));
    }
  std::vector<Direction> directions;
  for (std::int64_t d = 0; d < layout.directions; ++d) {
    const float* weights = given[0]->values<float>().data() + d * columns * layout.inputs;
    const float* state = given[1]->values<float>().data() + d * columns * layout.hidden;
    const float* biases =
        given[2] == nullptr ? nullptr : given[2]->values<float>().data() + d * 2 * columns;
    std::vector<float> bias(static_cast<std::size_t>(columns), 0.0f);
    Direction direction;
    direction.number = d;
    direction.reversed = attributes->reversed(d);
    direction.candidate_bias.assign(static_cast<std::size_t>(layout.hidden), 0.0f);
    for (std::int64_t j = 0; biases != nullptr && j < columns; ++j) {
      const bool apart = before_reset && j >= 2 * layout.hidden;
      bias[static_cast<std::size_t>(j)] = apart ? biases[j] : biases[j] + biases[columns + j];
      if (apart) direction.candidate_bias[static_cast<std::size_t>(j - 2 * layout.hidden)] =
          biases[columns + j];
    }
    const bool two_products = cell == Cell::gru && !before_reset;
    const std::int64_t at_once = two_products ? 2 * layout.hidden : columns;
    direction.r = Packed(state, at_once, layout.hidden, kernels.block);
    if (two_products)
      direction.r_candidate = Packed(state + at_once * layout.hidden, layout.hidden, layout.hidden,
                                     kernels.block);
    direction.products = lowering.scratch(
        static_cast<std::size_t>(layout.steps * layout.batch * row) * sizeof(float));
    DRIFTSCOPE_TRY(const bool placed, place_products(lowering, node, layout, weights, bias, row,
                                                     direction.products));
    if (!placed) return false;
    directions.push_back(std::move(direction));
  }
  std::array<BufferId, 3> outputs = {no_buffer, no_buffer, no_buffer};
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    if (node.outputs[i] != no_value) outputs[i] = lowering.write(node.outputs[i], {});
  for (Direction& direction : directions) {
    PlannedStep planned;
    planned.reads = {direction.products};
    for (const BufferId id : initial)
      if (id != no_buffer) planned.reads.push_back(id);
    for (const BufferId id : outputs)
      if (id != no_buffer) planned.writes.push_back(id);
    planned.step = std::make_unique<RecurrentStep>(cell, before_reset, layout, kernels, row,
                                                   std::move(direction), initial, outputs);
    lowering.emit(std::move(planned));
  }
  return true;
}

void add_to(FastOperatorTable& table) {
  table.add("LSTM", lower<Cell::lstm>);
  table.add("GRU", lower<Cell::gru>);
  table.add("RNN", lower<Cell::rnn>);
}

}  // namespace driftscope::fast::recurrent
