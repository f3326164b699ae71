// LSTM, GRU and RNN: W·x of all steps as one product, then for each step a dispatch or two in which every
// unit sums over the state. All steps run the same programs, as a buffer has the step's number. The states
// are put side by side in the end.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/engines/gpu/operator_table.hpp"
#include "core/engines/gpu/recurrent_cell.hpp"

namespace driftscope::gpu::recurrent {

constexpr std::int64_t max_steps = 1024;  // each has dispatches of its own in the plan
constexpr std::size_t side_by_side = 8;   // put so at once

// Values of the same size in the order of time, put side by side as they come, so that few are alive at once.
class History {
 public:
  History(GpuLowering& lowering, std::int64_t size, bool reversed)
      : lowering_(lowering), size_(size), reversed_(reversed) {}

  Status add(BufferId value) {
    pieces_.push_back({value, 1});
    while (pieces_.size() >= side_by_side &&
           pieces_[pieces_.size() - side_by_side].size == pieces_.back().size)
      DRIFTSCOPE_CHECK(join(side_by_side));
    return {};
  }

  Result<BufferId> all() {
    while (pieces_.size() > 1) DRIFTSCOPE_CHECK(join(std::min(pieces_.size(), side_by_side)));
    return pieces_.back().buffer;
  }

 private:
  // The last `count` become one.
  Status join(std::size_t count) {
    std::vector<Piece> parts(pieces_.end() - static_cast<std::ptrdiff_t>(count), pieces_.end());
    pieces_.resize(pieces_.size() - count);
    if (reversed_) std::ranges::reverse(parts);
    Piece joined;
    for (const Piece& part : parts) joined.size += part.size;
    joined.buffer = lowering_.scratch(static_cast<std::size_t>(joined.size * size_) * sizeof(float));
    DRIFTSCOPE_TRY(const bool done, lowering_.emit_concat(parts, 1, size_, joined.buffer));
    if (!done) return internal_error("states were not put side by side");
    pieces_.push_back(joined);
    return {};
  }

  GpuLowering& lowering_;
  std::int64_t size_;
  bool reversed_;
  std::vector<Piece> pieces_;
};

class Recurrence {
 public:
  Recurrence(GpuLowering& lowering, const Node& node, const RecurrentNode& it)
      : lowering_(lowering),
        node_(node),
        it_(it),
        size_(it.layout.batch * it.units()),
        passes_(it.passes()) {}

  Status emit() {
    for (std::int64_t t = 0; t < it_.layout.steps; ++t) {
      DRIFTSCOPE_TRY(Tensor number, Tensor::make(DType::float32, {4}, "the number of a step"));
      std::ranges::fill(number.mutable_values<float>(), static_cast<float>(t));
      numbers_.push_back(lowering_.keep(std::move(number)));
    }
    for (std::int64_t d = 0; d < it_.layout.directions; ++d) DRIFTSCOPE_CHECK(emit_direction(d));
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      if (wanted(i)) DRIFTSCOPE_CHECK(write(i));
    return {};
  }

 private:
  // Of one direction.
  struct Weights {
    BufferId products = no_buffer;
    BufferId constants = no_buffer;
    std::vector<BufferId> states = {};  // by pass
    ShaderValues values = {};
  };

  [[nodiscard]] bool wanted(std::size_t output) const {
    return output < node_.outputs.size() && node_.outputs[output] != no_value;
  }
  BufferId scratch() { return lowering_.scratch(static_cast<std::size_t>(size_) * sizeof(float)); }

  Status emit_direction(std::int64_t direction) {
    DRIFTSCOPE_TRY(const Weights weights, prepare(direction));
    DRIFTSCOPE_TRY(BufferId h, initial(direction, recurrent_input::initial_h));
    BufferId c = no_buffer;
    if (it_.cell == Cell::lstm) {
      DRIFTSCOPE_TRY(c, initial(direction, recurrent_input::initial_c));
    }
    const bool reversed = it_.attributes.reversed(direction);
    History history(lowering_, size_, reversed);
    for (std::int64_t step = 0; step < it_.layout.steps; ++step) {
      const std::int64_t t = reversed ? it_.layout.steps - 1 - step : step;
      std::vector<BufferId> operands = {h};
      if (it_.cell == Cell::lstm) operands.push_back(c);
      for (std::size_t pass = 0; pass < passes_.size(); ++pass) {
        DRIFTSCOPE_TRY(const BufferId made, emit_pass(weights, pass, t, operands));
        const bool last = pass + 1 == passes_.size();
        if (last)
          h = made;
        else if (it_.cell == Cell::lstm)
          c = operands.back() = made;
        else
          operands.push_back(made);
      }
      if (wanted(0)) DRIFTSCOPE_CHECK(history.add(h));
    }
    if (wanted(0)) {
      DRIFTSCOPE_TRY(const BufferId all, history.all());
      outputs_[0].push_back(all);
    }
    outputs_[1].push_back(h);
    outputs_[2].push_back(c);
    return {};
  }

  Result<Weights> prepare(std::int64_t direction) {
    const RecurrentLayout& layout = it_.layout;
    const std::int64_t units = it_.units();
    Weights made;
    const auto of_x = it_.input_weights(direction);
    const auto product_weight = [&](std::int64_t k, std::int64_t n) {
      const std::int64_t row = n / units * layout.hidden + n % units;
      return n % units < layout.hidden ? of_x[static_cast<std::size_t>(row * layout.inputs + k)] : 0.0f;
    };
    DRIFTSCOPE_TRY(const BufferId in, lowering_.read(node_.inputs[recurrent_input::x], {}));
    const std::vector<float> bias = it_.bias(direction);
    Product product;
    product.m = layout.steps * layout.batch;
    product.k = layout.inputs;
    product.n = it_.kind.gates * units;
    product.a = in;
    product.constant_b = product_weight;
    product.bias = bias;
    DRIFTSCOPE_TRY(made.products, lowering_.emit_constant_product(std::move(product)));
    const std::vector<float> constants = it_.constants(direction);
    if (!constants.empty()) {
      DRIFTSCOPE_TRY(Tensor kept, Tensor::make(DType::float32, {std::ssize(constants)}, "constants"));
      std::ranges::copy(constants, kept.mutable_values<float>().begin());
      made.constants = lowering_.keep(std::move(kept));
    }
    for (const CellPass& pass : passes_) {
      DRIFTSCOPE_TRY(Tensor packed, packed_states(pass, direction));
      made.states.push_back(lowering_.keep(std::move(packed)));
    }
    const auto activations = it_.activations(direction);
    if (!activations) return internal_error("an activation without text");
    made.values = {{"LIMITED", it_.limited()},
                   {"ACTIVATIONS", std::ssize(*activations)},
                   {"GATES", it_.kind.gates},
                   {"UNITS", units},
                   {"COLUMNS", it_.kind.gates * units},
                   {"CONSTANT_ROWS", std::ssize(constants) / units},
                   {"X_ROW", layout.batch_first ? fmt::format("sequence * {} + t", layout.steps)
                                                : fmt::format("t * {} + sequence", layout.batch)}};
    for (std::size_t i = 0; i < activations->size(); ++i)
      made.values[fmt::format("ACTIVATION{}", i)] = (*activations)[i];
    return made;
  }

  // Four of the depth for each sum, unit by unit; zeros beyond the edges.
  Result<Tensor> packed_states(const CellPass& pass, std::int64_t direction) const {
    const std::int64_t hidden = it_.layout.hidden;
    const std::int64_t units = it_.units();
    const auto from = it_.state_weights(direction);
    DRIFTSCOPE_TRY(Tensor packed,
                   Tensor::make(DType::float32, {units / 4, std::ssize(pass.gates), units, 4}, "weights"));
    float* to = packed.mutable_values<float>().data();
    for (std::int64_t k4 = 0; k4 < units; k4 += 4)
      for (const std::int64_t gate : pass.gates)
        for (std::int64_t unit = 0; unit < units; ++unit)
          for (std::int64_t k = k4; k < k4 + 4; ++k)
            *to++ = unit < hidden && k < hidden
                        ? from[static_cast<std::size_t>((gate * hidden + unit) * hidden + k)]
                        : 0.0f;
    return packed;
  }

  // Padded; zeros where the node has none.
  Result<BufferId> initial(std::int64_t direction, std::size_t input) {
    const RecurrentLayout& layout = it_.layout;
    const std::int64_t units = it_.units();
    if (!lowering_.has_input(node_, input)) {
      DRIFTSCOPE_TRY(Tensor zeros, Tensor::make(DType::float32, {size_}, "a state"));
      return lowering_.keep(std::move(zeros));
    }
    DRIFTSCOPE_TRY(const BufferId from, lowering_.read(node_.inputs[input], {}));
    const BufferId state = scratch();
    const GatherAxis of_units{
        .size = units, .stride = 1, .shift = 0, .limit = units == layout.hidden ? 0 : layout.hidden};
    const std::int64_t batch_stride = layout.state_row(0, 1) - layout.state_row(0, 0);
    DRIFTSCOPE_TRY(
        const bool done,
        lowering_.emit_gather(from, state, {{.size = layout.batch, .stride = batch_stride}, of_units},
                              layout.state_row(direction, 0)));
    return done ? Result<BufferId>(state) : internal_error("a state was not padded");
  }

  // `operands`: H and, of LSTM, C; else what the passes before made.
  Result<BufferId> emit_pass(const Weights& weights, std::size_t number, std::int64_t t,
                             const std::vector<BufferId>& operands) {
    const CellPass& pass = passes_[number];
    const std::size_t states = static_cast<std::size_t>(*std::ranges::max_element(pass.over)) + 1;
    const std::size_t extras = it_.cell == Cell::lstm ? 1 : 0;
    std::string add;
    for (std::size_t i = 0; i < pass.gates.size(); ++i)
      add += fmt::format("s{0} += dot(h{1}, weight(k4, {0}, unit)); ", i, pass.over[i]);
    ShaderValues values = weights.values;
    values["STATES"] = static_cast<std::int64_t>(states);
    values["EXTRAS"] = static_cast<std::int64_t>(extras);
    values["SUMS"] = std::ssize(pass.gates);
    values["ADD"] = add;
    values["TEXELS1"] = 1;
    for (std::size_t i = 0; i < states; ++i) values[fmt::format("TEXELS{}", 3 + i)] = 1;
    values["CELL"] = pass.text;
    std::vector<BufferId> reads = {weights.products, weights.states[number],
                                   numbers_[static_cast<std::size_t>(t)]};
    reads.insert(reads.end(), operands.begin(),
                 operands.begin() + static_cast<std::ptrdiff_t>(states + extras));
    if (weights.constants != no_buffer) reads.push_back(weights.constants);
    const BufferId made = scratch();
    DRIFTSCOPE_TRY(const bool done,
                   lowering_.emit_elements("recurrent", std::move(values), std::move(reads), made, size_));
    return done ? Result<BufferId>(made) : internal_error("a step of a recurrent node was not taken");
  }

  // Output i from what the directions made, without padding.
  Status write(std::size_t i) {
    const RecurrentLayout& layout = it_.layout;
    const std::int64_t times = i == 0 ? layout.steps : 1;
    BufferId from = outputs_[i][0];
    if (layout.directions == 2) {
      from = lowering_.scratch(static_cast<std::size_t>(2 * times * size_) * sizeof(float));
      DRIFTSCOPE_TRY(const bool joined,
                     lowering_.emit_concat({{outputs_[i][0], 1}, {outputs_[i][1], 1}}, times, size_, from));
      if (!joined) return internal_error("the directions were not put side by side");
    }
    const GatherAxis steps{.size = times, .stride = layout.directions * size_};
    const GatherAxis directions{.size = layout.directions, .stride = size_};
    const GatherAxis batch{.size = layout.batch, .stride = it_.units()};
    const GatherAxis units{.size = layout.hidden, .stride = 1};
    const std::vector<GatherAxis> axes = layout.batch_first
                                             ? std::vector<GatherAxis>{batch, steps, directions, units}
                                             : std::vector<GatherAxis>{steps, directions, batch, units};
    DRIFTSCOPE_TRY(const bool done, lowering_.emit_gather(from, lowering_.write(node_.outputs[i], {}), axes));
    return done ? Status() : internal_error("an output of a recurrent node was not written");
  }

  GpuLowering& lowering_;
  const Node& node_;
  const RecurrentNode& it_;
  std::int64_t size_;  // elements of a state
  std::vector<CellPass> passes_;
  std::vector<BufferId> numbers_;                 // by step
  std::array<std::vector<BufferId>, 3> outputs_;  // Y, Y_h, Y_c by direction
};

template <Cell cell>
Result<bool> lower(GpuLowering& lowering, const Node& node) {
  const auto it = read_recurrent_node(lowering, node, cell);
  if (!it || it->layout.steps > max_steps || !lowering.may_loop(it->units() / 4)) return false;
  for (std::int64_t d = 0; d < it->layout.directions; ++d)
    if (!it->activations(d)) return false;
  DRIFTSCOPE_CHECK(Recurrence(lowering, node, *it).emit());
  return true;
}

void add_to(GpuOperatorTable& table) {
  table.add("RNN", lower<Cell::rnn>);
  table.add("GRU", lower<Cell::gru>);
  table.add("LSTM", lower<Cell::lstm>);
}

}  // namespace driftscope::gpu::recurrent
