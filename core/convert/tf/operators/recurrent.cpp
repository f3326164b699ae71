// LSTM, GRU and RNN, unrolled over time: the product of all inputs with W at once, then for each step a
// product of the state with R, the gates by Split, Sigmoid and Tanh. All steps share their weights.
#include <fmt/format.h>

#include <algorithm>

#include "core/convert/tf/activations.hpp"
#include "core/ops/shared/recurrent.hpp"

namespace driftscope::tf::operators::recurrent {
namespace {

namespace inputs = recurrent_input;

constexpr std::int64_t max_steps = 2048;  // each has nodes of its own

const RecurrentKind& kind_of(const OnnxNode& node) {
  static const RecurrentKind lstm{4, true, {"Sigmoid", "Tanh", "Tanh"}};
  static const RecurrentKind gru{3, false, {"Sigmoid", "Tanh"}};
  static const RecurrentKind rnn{1, false, {"Tanh"}};
  return node.op_type == "LSTM" ? lstm : node.op_type == "GRU" ? gru : rnn;
}

class Recurrence {
 public:
  Recurrence(Lowering& lowering, const OnnxNode& node)
      : lowering_(lowering), node_(node), kind_(kind_of(node)) {}

  Status run() {
    DRIFTSCOPE_TRY(attributes_, read_recurrent(node_, kind_));
    layout_ = RecurrentLayout(attributes_, lowering_.shape(node_.inputs[inputs::x]),
                              lowering_.shape(node_.inputs[inputs::r]));
    if (layout_.steps > max_steps)
      return unsupported(
          fmt::format("it is unrolled over time, and {} steps are more than {}", layout_.steps, max_steps));
    if (layout_.steps == 0) return unsupported("a sequence without steps has no equivalent");
    DRIFTSCOPE_CHECK(check_lengths());
    if (node_.op_type == "GRU") {
      DRIFTSCOPE_TRY(linear_, flag_attribute(node_, "linear_before_reset", false));
    }
    if (node_.op_type == "LSTM") {
      DRIFTSCOPE_TRY(coupled_, flag_attribute(node_, "input_forget", false));
    }
    std::vector<Direction> directions;
    for (std::int64_t d = 0; d < layout_.directions; ++d) {
      DRIFTSCOPE_TRY(Direction result, direction(d));
      directions.push_back(std::move(result));
    }
    return give(directions);
  }

 private:
  // Of one direction: every h [B, H] in the order of time, and the last states.
  struct Direction {
    std::vector<std::string> h;
    std::string last_h;
    std::string last_c;
  };
  struct Matrix {
    std::string tensor;
    bool transposed = false;  ///< is [out, in]
  };

  Status check_lengths() const {
    if (!Lowering::has_input(node_, inputs::sequence_lens)) return {};
    DRIFTSCOPE_TRY(const Tensor* const known, lowering_.known(node_, inputs::sequence_lens, "sequence_lens"));
    DRIFTSCOPE_TRY(const auto lengths, sequence_lengths(known, layout_));
    for (const std::int64_t length : lengths)
      if (length != layout_.steps) return unsupported("sequences of different lengths have no equivalent");
    return {};
  }

  [[nodiscard]] std::int64_t units() const { return kind_.gates * layout_.hidden; }

  // Rows [begin, begin + rows) of direction d of an input [D, …, columns]; columns 0: of a vector [D, …].
  Result<std::string> part(std::size_t input, std::int64_t d, std::int64_t begin, std::int64_t rows,
                           std::int64_t columns, std::string_view suffix) {
    const ValueId id = node_.inputs[input];
    const std::int64_t width = std::max<std::int64_t>(columns, 1);
    const Shape shape = columns == 0 ? Shape{rows} : Shape{rows, columns};
    if (const Tensor* const known = lowering_.constant(id)) {
      const std::int64_t each = element_count(known->shape()) / layout_.directions;
      const auto values = known->values<float>().subspan(static_cast<std::size_t>(d * each + begin * width),
                                                         static_cast<std::size_t>(rows * width));
      DRIFTSCOPE_TRY(Tensor tensor, Tensor::from_values<float>(shape, values));
      return lowering_.constant(tensor, suffix);
    }
    DRIFTSCOPE_TRY(const std::string whole, lowering_.read(id));
    std::vector<std::int64_t> from = {d, begin}, size = {1, rows};
    if (columns > 0) {
      from.push_back(0);
      size.push_back(columns);
    }
    DRIFTSCOPE_TRY(const std::string first, lowering_.ints(from, "begin"));
    DRIFTSCOPE_TRY(const std::string sizes, lowering_.ints(size, "size"));
    const std::string slice =
        lowering_.make(suffix, "Slice", {whole, first, sizes}, {}, {DType::float32, size, {}});
    return lowering_.reshape(suffix, slice, shape);
  }

  // Rows of W or R as the right side of a product: constants are turned.
  Result<Matrix> matrix(std::size_t input, std::int64_t d, std::int64_t begin, std::int64_t rows,
                        std::int64_t columns, std::string_view suffix) {
    const ValueId id = node_.inputs[input];
    const Tensor* const known = lowering_.constant(id);
    if (known == nullptr) {
      DRIFTSCOPE_TRY(std::string tensor, part(input, d, begin, rows, columns, suffix));
      return Matrix{std::move(tensor), true};
    }
    const std::int64_t each = element_count(known->shape()) / layout_.directions;
    const auto values = known->values<float>().subspan(static_cast<std::size_t>(d * each + begin * columns),
                                                       static_cast<std::size_t>(rows * columns));
    DRIFTSCOPE_TRY(const Tensor tensor, Tensor::from_values<float>({rows, columns}, values));
    DRIFTSCOPE_TRY(Tensor turned, transposed(tensor, {1, 0}));
    DRIFTSCOPE_TRY(std::string name, lowering_.constant(turned, suffix));
    return Matrix{std::move(name), false};
  }

  std::string product(std::string_view suffix, const std::string& left, const Matrix& right) {
    const Shape& shape = lowering_.info(right.tensor).shape;
    return lowering_.make(
        suffix, "MatMul", {left, right.tensor}, {{"transpose_a", false}, {"transpose_b", right.transposed}},
        {DType::float32, {lowering_.info(left).shape[0], shape[right.transposed ? 0 : 1]}, {}});
  }

  std::string op(std::string_view suffix, std::string_view name, Inputs operands) {
    return lowering_.elementwise(suffix, name, std::move(operands));
  }

  // The sum goes through clip into the activation.
  std::string gate(std::int64_t d, std::size_t activation, const std::string& sum) {
    return activated(lowering_, attributes_.activation(d, activation), clip(sum));
  }
  std::string clip(const std::string& x) {
    return attributes_.clip ? clipped(lowering_, x, -*attributes_.clip, *attributes_.clip) : x;
  }

  Result<std::string> initial(std::size_t input, std::int64_t d, std::string_view suffix) {
    const Shape state = {layout_.batch, layout_.hidden};
    if (!Lowering::has_input(node_, input)) {
      DRIFTSCOPE_TRY(Tensor zeros, Tensor::make(DType::float32, state));
      return lowering_.constant(zeros, suffix);
    }
    DRIFTSCOPE_TRY(const std::string whole, lowering_.read(node_.inputs[input]));
    if (layout_.directions == 1) return lowering_.reshape(suffix, whole, state);
    Shape size = lowering_.shape(node_.inputs[input]);
    const std::size_t axis = layout_.batch_first ? 1 : 0;
    std::vector<std::int64_t> begin(3, 0);
    begin[axis] = d;
    size[axis] = 1;
    DRIFTSCOPE_TRY(const std::string first, lowering_.ints(begin, "begin"));
    DRIFTSCOPE_TRY(const std::string sizes, lowering_.ints(size, "size"));
    const std::string slice =
        lowering_.make(suffix, "Slice", {whole, first, sizes}, {}, {DType::float32, size, {}});
    return lowering_.reshape(suffix, slice, state);
  }

  // [T, B, I] as rows of all steps.
  Result<std::string> rows() {
    if (!rows_.empty()) return rows_;
    DRIFTSCOPE_TRY(std::string x,
                   lowering_.read(node_.inputs[inputs::x], layout_.batch_first ? Order{1, 0, 2} : Order{}));
    DRIFTSCOPE_TRY(rows_, lowering_.reshape("steps", x, {layout_.steps * layout_.batch, layout_.inputs}));
    return rows_;
  }

  // W·x + b of every step, [B, gates·H] each. The candidate of a GRU that is linear before its reset has R's
  // bias elsewhere.
  Result<std::vector<std::string>> input_sums(std::int64_t d) {
    DRIFTSCOPE_TRY(const Matrix w, matrix(inputs::w, d, 0, units(), layout_.inputs, "W"));
    DRIFTSCOPE_TRY(const std::string x, rows());
    std::string sums = product("input_sums", x, w);
    if (Lowering::has_input(node_, inputs::b)) {
      DRIFTSCOPE_TRY(const std::string from_w, part(inputs::b, d, 0, units(), 0, "W_bias"));
      sums = op("with_W_bias", "AddV2", {sums, from_w});
      const std::int64_t also = linear_ ? 2 * layout_.hidden : units();
      DRIFTSCOPE_TRY(std::string from_r, part(inputs::b, d, units(), also, 0, "R_bias"));
      if (linear_) {
        DRIFTSCOPE_TRY(Tensor zeros, Tensor::make(DType::float32, {layout_.hidden}));
        DRIFTSCOPE_TRY(const std::string none, lowering_.constant(zeros, "none"));
        DRIFTSCOPE_TRY(const std::string axis, lowering_.scalar_int(0, "axis"));
        from_r = lowering_.make("R_bias", "ConcatV2", {from_r, none, axis}, {{"N", std::int64_t{2}}},
                                {DType::float32, {units()}, {}});
      }
      sums = op("with_R_bias", "AddV2", {sums, from_r});
    }
    if (layout_.steps == 1) return std::vector{sums};
    return split("input_sum", sums, 0, layout_.steps);
  }

  Result<std::vector<std::string>> split(std::string_view suffix, const std::string& tensor,
                                         std::int64_t axis, std::int64_t parts) {
    TensorInfo info = lowering_.info(tensor);
    info.shape[static_cast<std::size_t>(axis)] /= parts;
    DRIFTSCOPE_TRY(const std::string at, lowering_.scalar_int(axis, "split_axis"));
    return lowering_.make_many(suffix, "Split", {at, tensor}, {{"num_split", parts}},
                               std::vector<TensorInfo>(static_cast<std::size_t>(parts), info));
  }

  Result<Direction> direction(std::int64_t d) {
    DRIFTSCOPE_TRY(const auto sums, input_sums(d));
    Direction result;
    DRIFTSCOPE_TRY(result.last_h, initial(inputs::initial_h, d, "initial_h"));
    if (kind_.has_cell_state) {
      DRIFTSCOPE_TRY(result.last_c, initial(inputs::initial_c, d, "initial_c"));
    }
    result.h.resize(sums.size());
    DRIFTSCOPE_CHECK(begin_cell(d));
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const std::size_t t = attributes_.reversed(d) ? sums.size() - 1 - i : i;
      DRIFTSCOPE_CHECK(node_.op_type == "LSTM"  ? lstm(d, sums[t], result)
                       : node_.op_type == "GRU" ? gru(d, sums[t], result)
                                                : rnn(d, sums[t], result));
      result.h[t] = result.last_h;
    }
    return result;
  }

  Status begin_cell(std::int64_t d) {
    const std::int64_t hidden = layout_.hidden;
    peepholes_.clear();
    if (node_.op_type != "GRU") {
      DRIFTSCOPE_TRY(r_, matrix(inputs::r, d, 0, units(), hidden, "R"));
      if (node_.op_type == "LSTM" && Lowering::has_input(node_, inputs::p))
        for (std::int64_t i = 0; i < 3; ++i) {
          DRIFTSCOPE_TRY(std::string p, part(inputs::p, d, i * hidden, hidden, 0, "peephole"));
          peepholes_.push_back(std::move(p));
        }
      return {};
    }
    DRIFTSCOPE_TRY(r_, matrix(inputs::r, d, 0, 2 * hidden, hidden, "R"));
    DRIFTSCOPE_TRY(r_candidate_, matrix(inputs::r, d, 2 * hidden, hidden, hidden, "R_candidate"));
    candidate_bias_.clear();
    if (linear_ && Lowering::has_input(node_, inputs::b)) {
      DRIFTSCOPE_TRY(candidate_bias_,
                     part(inputs::b, d, units() + 2 * hidden, hidden, 0, "R_candidate_bias"));
    }
    return {};
  }

  std::string with_peephole(const std::string& sum, std::size_t number, const std::string& c) {
    if (peepholes_.empty()) return sum;
    return op("with_peephole", "AddV2", {sum, op("peephole_of", "Mul", {c, peepholes_[number]})});
  }

  // Gates i, o, f, c.
  Status lstm(std::int64_t d, const std::string& input_sum, Direction& state) {
    const std::string sum = op("sum", "AddV2", {input_sum, product("state_sum", state.last_h, r_)});
    DRIFTSCOPE_TRY(const auto gates, split("gate", sum, 1, 4));
    const std::string i = gate(d, 0, with_peephole(gates[0], 0, state.last_c));
    const std::string f = coupled_ ? op("forget", "Sub", {lowering_.number(1), i})
                                   : gate(d, 0, with_peephole(gates[2], 2, state.last_c));
    const std::string candidate = gate(d, 1, gates[3]);
    const std::string c =
        op("c", "AddV2", {op("kept", "Mul", {f, state.last_c}), op("new", "Mul", {i, candidate})});
    const std::string o = gate(d, 0, with_peephole(gates[1], 1, c));
    const std::string shown =
        activated(lowering_, attributes_.activation(d, 2), attributes_.clips_cell ? clip(c) : c);
    state.last_h = op("h", "Mul", {o, shown});
    state.last_c = c;
    return {};
  }

  // Gates z, r, h.
  Status gru(std::int64_t d, const std::string& input_sum, Direction& state) {
    DRIFTSCOPE_TRY(const auto sums, split("gate", input_sum, 1, 3));
    DRIFTSCOPE_TRY(const auto states, split("state_gate", product("state_sum", state.last_h, r_), 1, 2));
    const std::string z = gate(d, 0, op("z_sum", "AddV2", {sums[0], states[0]}));
    const std::string r = gate(d, 0, op("r_sum", "AddV2", {sums[1], states[1]}));
    std::string from_state;
    if (linear_) {
      std::string whole = product("candidate_of_state", state.last_h, r_candidate_);
      if (!candidate_bias_.empty()) whole = op("candidate_with_bias", "AddV2", {whole, candidate_bias_});
      from_state = op("reset", "Mul", {r, whole});
    } else {
      from_state = product("candidate_of_state", op("reset", "Mul", {r, state.last_h}), r_candidate_);
    }
    const std::string candidate = gate(d, 1, op("candidate_sum", "AddV2", {sums[2], from_state}));
    const std::string rest = op("rest", "Sub", {lowering_.number(1), z});
    state.last_h =
        op("h", "AddV2", {op("new", "Mul", {rest, candidate}), op("kept", "Mul", {z, state.last_h})});
    return {};
  }

  Status rnn(std::int64_t d, const std::string& input_sum, Direction& state) {
    state.last_h = gate(d, 0, op("sum", "AddV2", {input_sum, product("state_sum", state.last_h, r_)}));
    return {};
  }

  // The states of all steps and directions as [T, D, B, H], or with the batch first [B, T, D, H].
  Status give_all_states(const std::vector<Direction>& directions) {
    const Shape each = {layout_.batch, layout_.hidden};
    Inputs parts;
    for (std::size_t t = 0; t < directions[0].h.size(); ++t)
      for (const Direction& direction : directions) parts.push_back(direction.h[t]);
    const auto count = static_cast<std::int64_t>(parts.size());
    const std::string packed =
        lowering_.make("states", "Pack", std::move(parts), {{"N", count}, {"axis", std::int64_t{0}}},
                       {DType::float32, {count, each[0], each[1]}, {}});
    const ValueId y = node_.outputs[0];
    if (!layout_.batch_first) return lowering_.give_reshaped(y, packed);
    DRIFTSCOPE_TRY(const std::string turned, lowering_.transpose("batch_first", packed, {1, 0, 2}));
    return lowering_.give_reshaped(y, turned);
  }

  Status give_last(std::size_t output, const std::vector<Direction>& directions,
                   std::string Direction::* member) {
    if (!Lowering::has_output(node_, output)) return {};
    if (directions.size() == 1) return lowering_.give_reshaped(node_.outputs[output], directions[0].*member);
    Inputs parts;
    for (const Direction& direction : directions) parts.push_back(direction.*member);
    return lowering_.give(node_.outputs[output], "Pack", std::move(parts),
                          {{"N", std::int64_t{2}}, {"axis", std::int64_t{layout_.batch_first ? 1 : 0}}});
  }

  Status give(const std::vector<Direction>& directions) {
    if (Lowering::has_output(node_, 0)) DRIFTSCOPE_CHECK(give_all_states(directions));
    DRIFTSCOPE_CHECK(give_last(1, directions, &Direction::last_h));
    return give_last(2, directions, &Direction::last_c);
  }

  Lowering& lowering_;
  const OnnxNode& node_;
  const RecurrentKind& kind_;
  RecurrentAttributes attributes_;
  RecurrentLayout layout_;
  bool linear_ = false;
  bool coupled_ = false;
  std::string rows_;
  Matrix r_;            // of the direction
  Matrix r_candidate_;  // GRU
  std::string candidate_bias_;
  std::vector<std::string> peepholes_;
};

Status lower(Lowering& lowering, const OnnxNode& node) { return Recurrence(lowering, node).run(); }

}  // namespace

void add_to(OperatorTable& table) {
  for (const std::string_view name : {"LSTM", "GRU", "RNN"}) table.add(name, lower);
}

}  // namespace driftscope::tf::operators::recurrent
