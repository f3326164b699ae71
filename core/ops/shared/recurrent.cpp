#include "core/ops/shared/recurrent.hpp"

#include <fmt/format.h>

#include <array>

#include "core/base/checked.hpp"
#include "core/graph/attributes.hpp"

namespace driftscope {
namespace {

constexpr std::array<std::string_view, 8> input_names = {"X",         "W",         "R", "B", "sequence_lens",
                                                         "initial_h", "initial_c", "P"};

// The known sizes, collected from all inputs; the error for a contradiction names the input.
class Sizes {
 public:
  Sizes(const InferContext& context, const RecurrentAttributes& attributes)
      : context_(context), batch_first_(attributes.batch_first) {
    directions = known_dimension(attributes.directions);
  }

  Dimension steps, batch, inputs, hidden, directions;

  Status gather(std::int64_t gates) {
    using namespace recurrent_input;
    if (batch_first_)
      DRIFTSCOPE_CHECK(meet(x, {&batch, &steps, &inputs}, {1, 1, 1}));
    else
      DRIFTSCOPE_CHECK(meet(x, {&steps, &batch, &inputs}, {1, 1, 1}));
    DRIFTSCOPE_CHECK(meet(r, {&directions, &hidden, &hidden}, {1, gates, 1}));
    DRIFTSCOPE_CHECK(meet(w, {&directions, &hidden, &inputs}, {1, gates, 1}));
    DRIFTSCOPE_CHECK(meet(b, {&directions, &hidden}, {1, 2 * gates}));
    DRIFTSCOPE_CHECK(meet(sequence_lens, {&batch}, {1}));
    for (const std::size_t state : {initial_h, initial_c}) {
      if (batch_first_)
        DRIFTSCOPE_CHECK(meet(state, {&batch, &directions, &hidden}, {1, 1, 1}));
      else
        DRIFTSCOPE_CHECK(meet(state, {&directions, &batch, &hidden}, {1, 1, 1}));
    }
    return meet(p, {&directions, &hidden}, {1, 3});
  }

  [[nodiscard]] SymbolicShape y() const {
    if (batch_first_) return {batch, steps, directions, hidden};
    return {steps, directions, batch, hidden};
  }
  [[nodiscard]] SymbolicShape state() const {
    if (batch_first_) return {batch, directions, hidden};
    return {directions, batch, hidden};
  }

 private:
  // Input `index` has the shape [factor·size, …].
  Status meet(std::size_t index, std::initializer_list<Dimension*> sizes,
              std::initializer_list<std::int64_t> factors) {
    DRIFTSCOPE_CHECK(expect_rank(context_, index, input_names[index], sizes.size(), sizes.size()));
    if (!context_.has_input(index) || !context_.input(index).shape) return {};
    const SymbolicShape& shape = *context_.input(index).shape;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      Dimension& known = *sizes.begin()[axis];
      const std::int64_t factor = factors.begin()[axis];
      if (!shape[axis].known()) {
        if (factor == 1 && !known.known() && known.symbol.empty()) known = shape[axis];
        continue;
      }
      const std::int64_t size = shape[axis].size;
      if (size % factor != 0 || (known.known() && known.size != size / factor)) {
        const auto wanted = known.known() ? checked_mul(known.size, factor) : std::nullopt;
        return bad_input(
            fmt::format("{}: expected {} on axis {}, got shape {}", input_label(index, input_names[index]),
                        wanted ? fmt::format("{}", *wanted) : fmt::format("a multiple of {}", factor), axis,
                        shape_text(shape)));
      }
      known = known_dimension(size / factor);
    }
    return {};
  }

  const InferContext& context_;
  bool batch_first_;
};

}  // namespace

Result<RecurrentAttributes> read_recurrent(const Node& node, const RecurrentKind& kind) {
  RecurrentAttributes result;
  DRIFTSCOPE_TRY(const std::string direction, string_attribute(node, "direction", "forward"));
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    return bad_input(
        fmt::format("attribute direction: expected forward, reverse or bidirectional, got '{}'", direction));
  result.directions = direction == "bidirectional" ? 2 : 1;
  result.reverse = direction == "reverse";
  if (node.opset >= 14) {
    DRIFTSCOPE_TRY(result.batch_first, flag_attribute(node, "layout", false));
  }
  if (node.attribute("clip") != nullptr) {
    DRIFTSCOPE_TRY(const float clip, float_attribute(node, "clip", 0.0f));
    if (!(clip >= 0.0f)) return bad_input(fmt::format("attribute clip: expected at least 0, got {}", clip));
    result.clip = clip;
    DRIFTSCOPE_TRY(result.clips_cell, flag_attribute(node, clips_cell_attribute, true));
  }
  result.per_direction = kind.default_activations.size();
  DRIFTSCOPE_TRY(result.activations, read_activations(node, static_cast<std::size_t>(result.directions),
                                                      kind.default_activations));
  return result;
}

Result<std::vector<TensorType>> infer_recurrent(const InferContext& context, const RecurrentKind& kind) {
  using namespace recurrent_input;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (i != sequence_lens) {
      DRIFTSCOPE_CHECK(expect_kind(context, i, input_names[i], Kinds::floating));
    } else if (context.has_input(i) && context.input(i).dtype != DType::undefined &&
               context.input(i).dtype != DType::int32) {
      return bad_input(fmt::format("{}: expected int32, got {}", input_label(i, input_names[i]),
                                   dtype_name(context.input(i).dtype)));
    }
  }
  DType dtype = DType::undefined;
  for (const std::size_t i : {x, w, r, b, initial_h, initial_c, p}) {
    if (!context.has_input(i) || context.input(i).dtype == DType::undefined) continue;
    if (dtype == DType::undefined)
      dtype = context.input(i).dtype;
    else if (dtype != context.input(i).dtype)
      return bad_input(fmt::format("{}: expected {} as the inputs before it have, got {}",
                                   input_label(i, input_names[i]), dtype_name(dtype),
                                   dtype_name(context.input(i).dtype)));
  }
  DRIFTSCOPE_TRY(const RecurrentAttributes attributes, read_recurrent(context.node(), kind));
  Sizes sizes(context, attributes);
  DRIFTSCOPE_CHECK(sizes.gather(kind.gates));
  if (context.node().attribute("hidden_size") != nullptr) {
    DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(context.node(), "hidden_size", 0));
    if (given < 0 || (sizes.hidden.known() && sizes.hidden.size != given))
      return bad_input(fmt::format("attribute hidden_size: expected {} as input 2 (R) has, got {}",
                                   sizes.hidden.known() ? sizes.hidden.size : 1, given));
    sizes.hidden = known_dimension(given);
  }
  std::vector<TensorType> outputs = {{dtype, sizes.y()}, {dtype, sizes.state()}};
  if (kind.has_cell_state) outputs.push_back({dtype, sizes.state()});
  return outputs;
}

Result<std::vector<std::int64_t>> sequence_lengths(const Tensor* lengths, const RecurrentLayout& layout) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(layout.batch), layout.steps);
  if (lengths == nullptr) return result;
  const auto given = lengths->values<std::int32_t>();
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (given[i] < 0 || given[i] > layout.steps)
      return bad_input(
          fmt::format("input 4 (sequence_lens): element {} is {}, expected 0 to {} as X has steps", i,
                      given[i], layout.steps));
    result[i] = given[i];
  }
  return result;
}

}  // namespace driftscope
