// LSTM, GRU and RNN with constant weights and the default activations: W·x of all steps as one fully
// connected operator of XNNPACK, then R·h and the gates step by step (simd/recurrent.hpp), without
// allocation.
#include <algorithm>
#include <array>

#include "core/engines/fast/lowering.hpp"
#include "core/engines/fast/simd/recurrent.hpp"
#include "core/engines/strict/simd/aligned.hpp"
#include "core/graph/attributes.hpp"
#include "core/ops/shared/recurrent.hpp"

namespace driftscope::fast::recurrent {

enum class Cell { rnn, gru, lstm };

RecurrentKind kind_of(Cell cell) {
  switch (cell) {
    case Cell::rnn: return {1, false, {"Tanh"}};
    case Cell::gru: return {3, false, {"Sigmoid", "Tanh"}};
    default: return {4, true, {"Sigmoid", "Tanh", "Tanh"}};
  }
}

// Gates that are computed together, and the weights of the state for them, packed for the kernels.
struct Matrix {
  std::int64_t first_gate = 0;
  std::int64_t gates = 0;
  std::int64_t lanes = 0;
  std::int64_t units = 0;  // of a group
  std::int64_t groups = 0;
  AlignedFloats packed;

  Matrix(std::int64_t first, std::int64_t count, std::int64_t hidden, const RecurrentKernels& kernels)
      : first_gate(first),
        gates(count),
        lanes(kernels.lanes),
        units(kernels.units[static_cast<std::size_t>(count)]),
        groups((hidden + units - 1) / units) {}

  [[nodiscard]] std::int64_t columns() const { return groups * units * gates; }

  // `weights`: R of one direction, gates × hidden rows of `hidden`.
  void pack(const float* weights, std::int64_t hidden) {
    packed = AlignedFloats(columns() * hidden);
    float* to = packed.data();
    const std::int64_t width = units * gates;
    for (std::int64_t first = 0; first < columns(); first += width)
      for (std::int64_t k = 0; k < hidden; ++k)
        for (std::int64_t j = first; j < first + width; ++j) {
          const std::int64_t vector = j / lanes;
          const std::int64_t gate = first_gate + vector % gates;
          const std::int64_t unit = vector / gates * lanes + j % lanes;
          *to++ = unit < hidden ? weights[(gate * hidden + unit) * hidden + k] : 0.0f;
        }
  }
};

// One direction: its inputs, and its own data.
struct Direction {
  std::int64_t number = 0;
  bool reversed = false;
  std::vector<Matrix> matrices;   // one; for GRU without linear_before_reset z with r, then the candidate
  AlignedFloats candidate_bias;   // GRU with it: Rb of the candidate
  BufferId products = no_buffer;  // W·x and the biases, a row for each step and sequence
};

// Multiplications per step above which threads share it.
constexpr std::int64_t min_step_for_threads = 24'000;

class RecurrentStep final : public Step {
 public:
  RecurrentStep(Cell cell, const RecurrentLayout& layout, const RecurrentKernels& kernels,
                ThreadPool* threads, std::int64_t row, std::vector<Direction> directions,
                std::array<BufferId, 2> initial, std::array<BufferId, 3> outputs)
      : cell_(cell),
        layout_(layout),
        kernels_(kernels),
        threads_(threads),
        row_(row),
        padded_(padded(layout.hidden, kernels)),
        directions_(std::move(directions)),
        initial_(initial),
        outputs_(outputs),
        spaces_(sequences() * Space::size(padded_)),
        products_(directions_.size()) {
    std::fill_n(spaces_.data(), spaces_.size(), 0.0f);
  }

  static std::int64_t padded(std::int64_t hidden, const RecurrentKernels& kernels) {
    return (hidden + kernels.units[1] - 1) / kernels.units[1] * kernels.units[1];
  }

  Status bind(const Memory& memory) override {
    for (std::size_t d = 0; d < directions_.size(); ++d)
      products_[d] = memory.at<const float>(directions_[d].products);
    for (std::size_t i = 0; i < initial_.size(); ++i)
      start_[i] = initial_[i] == no_buffer ? nullptr : memory.at<const float>(initial_[i]);
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      out_[i] = outputs_[i] == no_buffer ? nullptr : memory.at<float>(outputs_[i]);
    return {};
  }

  // Sequences are independent of each other, so threads take whole ones rather than parts of a step.
  Status run(Memory& /*memory*/) override {
    const int threads = threads_ == nullptr ? 1 : threads_->size();
    if (threads > 1 && sequences() >= threads) {
      threads_->parallel_for(sequences(), 1, [this](std::int64_t begin, std::int64_t end) {
        for (std::int64_t s = begin; s < end; ++s) run_alone(s);
      });
      return {};
    }
    for (std::int64_t s = 0; s < sequences(); ++s) {
      const std::vector<Matrix>& matrices = direction_of(s).matrices;
      const std::int64_t work = matrices.back().columns() * layout_.hidden;
      const int parts = static_cast<int>(std::min<std::int64_t>(threads, matrices.back().groups));
      if (parts == 1 || work < min_step_for_threads) {
        run_alone(s);
        continue;
      }
      begin(s);
      threads_->parallel_steps(parts, phases(s),
                               [=, this](int part, std::int64_t phase) { advance(s, phase, part, parts); });
      end(s);
    }
    return {};
  }

 private:
  // Of one sequence.
  struct Space {
    std::array<float*, 2> h;  // written alternately, starting with the first one
    float* c;
    float* z;
    float* product;
    Space(float* begin, std::int64_t padded)
        : h{begin, begin + padded},
          c(begin + 2 * padded),
          z(begin + 3 * padded),
          product(begin + 4 * padded) {}
    static std::int64_t size(std::int64_t padded) { return 5 * padded; }
  };

  [[nodiscard]] std::int64_t sequences() const { return std::ssize(directions_) * layout_.batch; }
  [[nodiscard]] const Direction& direction_of(std::int64_t sequence) const {
    return directions_[static_cast<std::size_t>(sequence / layout_.batch)];
  }
  [[nodiscard]] Space space(std::int64_t sequence) const {
    return {spaces_.data() + sequence * Space::size(padded_), padded_};
  }
  // A step has a phase for each matrix.
  [[nodiscard]] std::int64_t phases(std::int64_t sequence) const {
    return layout_.steps * std::ssize(direction_of(sequence).matrices);
  }

  void run_alone(std::int64_t sequence) const {
    begin(sequence);
    for (std::int64_t phase = 0; phase < phases(sequence); ++phase) advance(sequence, phase, 0, 1);
    end(sequence);
  }

  void begin(std::int64_t sequence) const {
    const std::array<float*, 2> states = {space(sequence).h[1], space(sequence).c};
    const std::int64_t row = state_row(sequence);
    for (std::size_t i = 0; i < states.size(); ++i)
      if (start_[i] == nullptr)
        std::fill_n(states[i], layout_.hidden, 0.0f);
      else
        std::copy_n(start_[i] + row, layout_.hidden, states[i]);
  }

  void end(std::int64_t sequence) const {
    const Space it = space(sequence);
    const std::array<const float*, 2> states = {it.h[(layout_.steps - 1) % 2], it.c};
    for (std::size_t i = 0; i < states.size(); ++i)
      if (out_[i + 1] != nullptr) std::copy_n(states[i], layout_.hidden, out_[i + 1] + state_row(sequence));
  }

  [[nodiscard]] std::int64_t state_row(std::int64_t sequence) const {
    return layout_.state_row(direction_of(sequence).number, sequence % layout_.batch);
  }

  // The groups of one of `parts` parts in one phase.
  void advance(std::int64_t sequence, std::int64_t phase, int part, int parts) const {
    const Direction& direction = direction_of(sequence);
    const std::int64_t n = sequence % layout_.batch;
    const std::int64_t step = phase / std::ssize(direction.matrices);
    const auto number = static_cast<std::size_t>(phase % std::ssize(direction.matrices));
    const bool last = number + 1 == direction.matrices.size();
    const Matrix& matrix = direction.matrices[number];
    const std::int64_t t = direction.reversed ? layout_.steps - 1 - step : step;
    const float* products = products_[static_cast<std::size_t>(sequence / layout_.batch)] +
                            layout_.x_row(t, n) / layout_.inputs * row_;
    const Space it = space(sequence);

    RecurrentOperands operands;
    operands.packed = matrix.packed.data();
    operands.products = products + matrix.first_gate * layout_.hidden;
    operands.depth = operands.units = layout_.hidden;
    operands.h = it.h[(step + 1) % 2];
    operands.state = number == 0 ? operands.h : it.product;
    operands.candidate_bias = direction.candidate_bias.data();
    operands.c = it.c;
    operands.z = it.z;
    operands.out = last ? it.h[step % 2] : it.product;
    operands.backwards = step % 2 == 1;
    const std::int64_t first = matrix.groups * part / parts;
    const std::int64_t end = matrix.groups * (part + 1) / parts;
    kernel_of(number, last)(operands, first, end);
    if (!last || out_[0] == nullptr) return;
    const std::int64_t from = first * matrix.units;
    const std::int64_t to = std::min(end * matrix.units, layout_.hidden);
    std::copy(operands.out + from, operands.out + to, out_[0] + layout_.y_row(t, direction.number, n) + from);
  }

  [[nodiscard]] RecurrentKernel kernel_of(std::size_t matrix, bool last) const {
    if (cell_ == Cell::lstm) return kernels_.lstm;
    if (cell_ == Cell::rnn) return kernels_.rnn;
    if (!last) return kernels_.reset;
    return matrix == 0 ? kernels_.gru : kernels_.update;
  }

  Cell cell_;
  RecurrentLayout layout_;
  RecurrentKernels kernels_;
  ThreadPool* threads_;  // null: one thread
  std::int64_t row_;     // floats of one row of products, with room behind the last gate
  std::int64_t padded_;  // floats of an array over units
  std::vector<Direction> directions_;
  std::array<BufferId, 2> initial_;  // h, c
  std::array<BufferId, 3> outputs_;  // Y, Y_h, Y_c
  AlignedFloats spaces_;
  std::vector<const float*> products_;  // by direction
  std::array<const float*, 2> start_{};
  std::array<float*, 3> out_{};
};

bool default_activations(const RecurrentAttributes& attributes, const RecurrentKind& kind) {
  for (std::size_t i = 0; i < attributes.activations.size(); ++i) {
    const bool tanh = kind.default_activations[i % attributes.per_direction] == "Tanh";
    if (attributes.activations[i].kind != (tanh ? Activation::Kind::tanh : Activation::Kind::sigmoid))
      return false;
  }
  return !attributes.clip.has_value();
}

// W·x + Wb, and Rb where it is added before anything else happens to it.
Result<bool> place_product(Lowering& lowering, const Node& node, const RecurrentLayout& layout,
                           const float* w, const std::vector<float>& bias, std::int64_t row, BufferId out) {
  const auto inputs = static_cast<std::size_t>(layout.inputs);
  const Clamp all;
  xnn_operator_t raw = nullptr;
  if (xnn_create_fully_connected_nc_f32(inputs, bias.size(), inputs, static_cast<std::size_t>(row), w,
                                        bias.data(), all.min, all.max, 0, nullptr, nullptr,
                                        &raw) != xnn_status_success)
    return false;
  XnnOperator op(raw);
  const std::int64_t rows = layout.steps * layout.batch;
  const pthreadpool_t pool = lowering.pool_for(rows * layout.inputs * row);
  if (xnn_reshape_fully_connected_nc_f32(raw, static_cast<std::size_t>(rows), pool) != xnn_status_success)
    return false;
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(node.inputs[recurrent_input::x], {}));
  lowering.emit(std::move(op), pool, {in}, {out}, [=](xnn_operator_t it, const Memory& memory) {
    return xnn_setup_fully_connected_nc_f32(it, memory.at<const float>(in), memory.at<float>(out));
  });
  return true;
}

// All gates at once, if each depends only on h.
std::vector<Matrix> matrices_of(Cell cell, bool linear_before_reset, std::int64_t gates, std::int64_t hidden,
                                const RecurrentKernels& kernels) {
  std::vector<Matrix> matrices;
  if (cell != Cell::gru || linear_before_reset) {
    matrices.emplace_back(0, gates, hidden, kernels);
    return matrices;
  }
  matrices.emplace_back(0, 2, hidden, kernels);
  matrices.emplace_back(2, 1, hidden, kernels);
  return matrices;
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

  std::array<BufferId, 2> initial = {no_buffer, no_buffer};
  for (std::size_t i = 0; i < 2; ++i)
    if (lowering.has_input(node, initial_h + i)) {
      DRIFTSCOPE_TRY(initial[i], lowering.read(node.inputs[initial_h + i], {}));
    }
  std::vector<Direction> directions;
  PlannedStep planned;
  const std::int64_t padded = RecurrentStep::padded(layout.hidden, kernels);
  const std::int64_t row = columns - layout.hidden + padded;
  for (std::int64_t d = 0; d < layout.directions; ++d) {
    const float* weights = given[0]->values<float>().data() + d * columns * layout.inputs;
    const float* state = given[1]->values<float>().data() + d * columns * layout.hidden;
    const float* biases = given[2] == nullptr ? nullptr : given[2]->values<float>().data() + d * 2 * columns;
    Direction direction;
    direction.number = d;
    direction.reversed = attributes->reversed(d);
    direction.matrices = matrices_of(cell, before_reset, kind.gates, layout.hidden, kernels);
    for (Matrix& matrix : direction.matrices) matrix.pack(state, layout.hidden);
    std::vector<float> bias(static_cast<std::size_t>(columns), 0.0f);
    for (std::int64_t j = 0; biases != nullptr && j < columns; ++j) {
      const bool apart = before_reset && j >= 2 * layout.hidden;
      bias[static_cast<std::size_t>(j)] = apart ? biases[j] : biases[j] + biases[columns + j];
    }
    if (before_reset) {
      direction.candidate_bias = AlignedFloats(padded);
      std::fill_n(direction.candidate_bias.data(), padded, 0.0f);
      if (biases != nullptr)
        std::copy_n(biases + columns + 2 * layout.hidden, layout.hidden, direction.candidate_bias.data());
    }
    direction.products =
        lowering.scratch(static_cast<std::size_t>(layout.steps * layout.batch * row) * sizeof(float));
    DRIFTSCOPE_TRY(const bool placed,
                   place_product(lowering, node, layout, weights, bias, row, direction.products));
    if (!placed) return false;
    planned.reads.push_back(direction.products);
    directions.push_back(std::move(direction));
  }
  std::array<BufferId, 3> outputs = {no_buffer, no_buffer, no_buffer};
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    if (node.outputs[i] != no_value) outputs[i] = lowering.write(node.outputs[i], {});
  for (const BufferId id : initial)
    if (id != no_buffer) planned.reads.push_back(id);
  for (const BufferId id : outputs)
    if (id != no_buffer) planned.writes.push_back(id);
  const std::int64_t work = layout.directions * layout.batch * layout.steps * columns * layout.hidden;
  ThreadPool* threads = lowering.pool_for(work) == nullptr ? nullptr : &lowering.threads();
  planned.step = std::make_unique<RecurrentStep>(cell, layout, kernels, threads, row, std::move(directions),
                                                 initial, outputs);
  lowering.emit(std::move(planned));
  return true;
}

void add_to(FastOperatorTable& table) {
  table.add("LSTM", lower<Cell::lstm>);
  table.add("GRU", lower<Cell::gru>);
  table.add("RNN", lower<Cell::rnn>);
}

}  // namespace driftscope::fast::recurrent
