// NonMaxSuppression, opset 10 to 21: boxes by descending score, without those that overlap a chosen one
// too much. As in ONNX Runtime: a score must lie above its threshold (if one is given), an
// overlap (intersection over union) above its threshold suppresses; with equal scores the lower index
// comes first.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/numerics/math.hpp"
#include "core/ops/shared/indices.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::non_max_suppression {

constexpr std::array<std::string_view, 5> names = {"boxes", "scores", "max_output_boxes_per_class",
                                                   "iou_threshold", "score_threshold"};

Result<std::vector<TensorType>> infer(const InferContext& context) {
  for (const std::size_t i : {0, 1, 3, 4})
    DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::floating));
  DRIFTSCOPE_CHECK(expect_index(context, 2, names[2]));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, names[0], 3, 3));
  DRIFTSCOPE_CHECK(expect_rank(context, 1, names[1], 3, 3));
  const auto& boxes = context.input(0).shape;
  const auto& scores = context.input(1).shape;
  if (boxes && (*boxes)[2].known() && (*boxes)[2].size != 4)
    return bad_input(
        fmt::format("input 0 (boxes): expected 4 numbers a box, got shape {}", shape_text(*boxes)));
  if (boxes && scores && (!unify((*boxes)[0], (*scores)[0]) || !unify((*boxes)[1], (*scores)[2])))
    return bad_input(
        fmt::format("input 1 (scores): expected batches x classes x boxes for boxes of "
                    "shape {}, got shape {}",
                    shape_text(*boxes), shape_text(*scores)));
  SymbolicShape y = unknown_shape(2);
  y[1] = known_dimension(3);
  return std::vector{TensorType{DType::int64, std::move(y)}};
}

template <class S>
struct Box {
  S low[2];
  S high[2];
};

template <class S>
Box<S> read_box(const S* x, bool center) {
  Box<S> box;
  for (int d = 0; d < 2; ++d) {
    if (center) {
      const S half = x[2 + d] / S(2);
      box.low[d] = x[d] - half;
      box.high[d] = x[d] + half;
    } else {
      box.low[d] = math::min(x[d], x[2 + d]);
      box.high[d] = math::max(x[d], x[2 + d]);
    }
  }
  return box;
}

enum class Answer { no, yes, open };

// x > limit; undecided where the error of x reaches the limit.
template <class S>
Answer exceeds(S x, double limit) {
  if constexpr (std::is_same_v<S, Bounded>)
    if (x.worst > 0.0 && std::fabs(x.value - limit) <= x.worst) return Answer::open;
  return static_cast<double>(math::value(x)) > limit ? Answer::yes : Answer::no;
}

template <class S>
Answer overlaps(const Box<S>& a, const Box<S>& b, double threshold) {
  S common[2];
  bool open = false;
  for (int d = 0; d < 2; ++d) {
    common[d] = math::min(a.high[d], b.high[d]) - math::max(a.low[d], b.low[d]);
    const Answer apart = exceeds(common[d], 0.0);
    if (apart == Answer::no) return Answer::no;
    open = open || apart == Answer::open;
  }
  const auto area = [](const Box<S>& box) { return (box.high[0] - box.low[0]) * (box.high[1] - box.low[1]); };
  const S both = common[0] * common[1];
  const S area_a = area(a);
  const S area_b = area(b);
  if (!(math::value(area_a) > 0) || !(math::value(area_b) > 0)) return Answer::no;
  const Answer answer = exceeds(both / (area_a + area_b - both), threshold);
  return open && answer == Answer::yes ? Answer::open : answer;
}

struct NonMaxSuppression {
  template <class S>
  static Status run(KernelContext<S>& context) {
    for (std::size_t i = 1; i < names.size(); ++i) DRIFTSCOPE_CHECK(expect_certain(context, i, names[i]));
    DRIFTSCOPE_TRY(const bool center, flag_attribute(context.node(), "center_point_box", false));
    const Shape& shape = context.shape(1);
    const auto boxes_each = static_cast<std::size_t>(shape[2]);
    std::int64_t max_per_class = 0;
    if (context.has_input(2)) {
      DRIFTSCOPE_TRY(max_per_class, single_integer(context.tensor(2), 2, names[2]));
    }
    const auto threshold = [&](std::size_t input) -> std::optional<double> {
      if (!context.has_input(input) || context.real(input).empty()) return std::nullopt;
      return static_cast<double>(math::value(context.real(input)[0]));
    };
    const double iou_threshold = threshold(3).value_or(0.0);
    const auto score_threshold = threshold(4);
    std::vector<std::int64_t> selected;
    for (std::int64_t group = 0; group < shape[0] * shape[1]; ++group) {
      const std::int64_t batch = group / shape[1];
      const S* scores = context.real(1).data() + group * shape[2];
      const S* boxes = context.real(0).data() + batch * shape[2] * 4;
      std::vector<std::size_t> order;
      for (std::size_t i = 0; i < boxes_each; ++i)
        if (!score_threshold || static_cast<double>(math::value(scores[i])) > *score_threshold)
          order.push_back(i);
      std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const auto left = math::value(scores[a]);
        const auto right = math::value(scores[b]);
        if (left > right || left < right) return left > right;
        // NaN comes last: it is above no other score.
        const bool nan_left = left != left;
        const bool nan_right = right != right;
        return nan_left != nan_right ? nan_right : a < b;
      });
      std::vector<Box<S>> chosen;
      for (const std::size_t i : order) {
        if (static_cast<std::int64_t>(chosen.size()) >= max_per_class) break;
        const Box<S> box = read_box(boxes + 4 * i, center);
        Answer answer = Answer::no;
        for (std::size_t k = 0; k < chosen.size() && answer == Answer::no; ++k)
          answer = overlaps(box, chosen[k], iou_threshold);
        if (answer == Answer::open)
          return unsupported(
              fmt::format("whether box {} of batch {} is suppressed lies within "
                          "rounding; it cannot be judged",
                          i, batch));
        if (answer == Answer::yes) continue;
        chosen.push_back(box);
        selected.insert(selected.end(), {batch, group % shape[1], static_cast<std::int64_t>(i)});
      }
    }
    if (!context.wants_output(0)) return {};
    DRIFTSCOPE_CHECK(
        context.allocate_output(0, DType::int64, {static_cast<std::int64_t>(selected.size() / 3), 3}));
    std::ranges::copy(selected, context.tensor_output(0).template mutable_values<std::int64_t>().begin());
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<NonMaxSuppression>(
      {.op_type = "NonMaxSuppression", .since = 10, .inputs = {2, 5}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::non_max_suppression
