// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/answer.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>

#include "core/base/float_bits.hpp"
#include "core/graph/attributes.hpp"
#include "core/model/tensor_elements.hpp"
#include "core/numerics/error_model.hpp"
#include "core/verify/tensor_values.hpp"
#include "core/verify/top1.hpp"

namespace driftscope {
namespace {

constexpr double tie_ulps = 2.0;
constexpr double moved_borders = 0.01;

bool says(std::string name, std::initializer_list<std::string_view> words) {
  std::ranges::transform(name, name.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return std::ranges::any_of(words,
                             [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

/// The node that made the elements of a value, behind those that only move or convert them.
const Node* maker_of(const Graph& graph, ValueId value) {
  while (graph.values[value].producer != no_node) {
    const Node& node = graph.nodes[graph.values[value].producer];
    const bool passes = says(node.op_type, {"identity", "cast", "reshape", "squeeze", "transpose"});
    if (!passes || node.inputs.empty() || node.inputs[0] == no_value) return &node;
    value = node.inputs[0];
  }
  return nullptr;
}

bool makes_classes(const Node* maker) {
  return maker != nullptr && (maker->op_type == "Softmax" || maker->op_type == "LogSoftmax");
}

bool finds_boxes(const Graph& graph) {
  return std::ranges::any_of(graph.nodes,
                             [](const Node& node) { return node.op_type == "NonMaxSuppression"; }) ||
         std::ranges::any_of(graph.outputs,
                             [&](ValueId id) { return says(graph.values[id].name, {"box", "detection"}); });
}

AnswerKind kind_of_integers(const Shape& shape) {
  const std::size_t rank = shape.size();
  if (rank >= 3 && shape[rank - 1] > 1 && shape[rank - 2] > 1) return AnswerKind::map;
  return rank < 2 || shape.back() == 1 ? AnswerKind::classes : AnswerKind::tokens;
}

/// Rows of classes lie along one axis of a tensor.
struct Rows {
  std::size_t length = 1;
  std::size_t stride = 1;  // between the elements of a row
  std::size_t count = 0;

  [[nodiscard]] std::size_t begin(std::size_t row) const {
    return row / stride * stride * length + row % stride;
  }
};

Rows rows_along(const Shape& shape, std::size_t axis) {
  Rows rows;
  rows.length = static_cast<std::size_t>(shape[axis]);
  for (std::size_t i = axis + 1; i < shape.size(); ++i) rows.stride *= static_cast<std::size_t>(shape[i]);
  const auto elements = static_cast<std::size_t>(element_count(shape));
  rows.count = rows.length == 0 ? 0 : elements / rows.length;
  return rows;
}

/// The axis of the classes: of a map the channels, unless a Softmax along the last axis made them.
std::size_t class_axis(const Graph& graph, AnswerKind kind, const Shape& shape) {
  std::size_t last = shape.size() - 1;
  if (kind != AnswerKind::map) {
    while (last > 1 && shape[last] == 1) --last;
    return last;
  }
  const Node* const maker = maker_of(graph, graph.outputs[0]);
  if (!makes_classes(maker)) return 1;
  const auto axis = int_attribute(*maker, "axis", maker->opset < 13 ? 1 : -1);
  return axis.ok() && (*axis == -1 || *axis == static_cast<std::int64_t>(last)) ? last : 1;
}

template <class At>
std::int64_t best_of(const Rows& rows, std::size_t row, const At& at) {
  std::int64_t best = -1;
  const std::size_t begin = rows.begin(row);
  for (std::size_t i = 0; i < rows.length; ++i) {
    const double x = at(begin + i * rows.stride);
    if (!std::isnan(x) && (best < 0 || x > at(begin + static_cast<std::size_t>(best) * rows.stride)))
      best = static_cast<std::int64_t>(i);
  }
  return best;
}

bool is_tie(double a, double b, double ulp) {
  return std::fabs(a - b) <= tie_ulps * ulp * power_of_two_below(std::fmax(std::fabs(a), std::fabs(b)));
}

void compare_rows(OutputAgreement& result, const Rows& rows, const Tensor& left, const Tensor& right) {
  const double ulp = error_model_for({}, left.dtype()).ulp;
  with_float_values(left, right, [&](const auto& a_at, const auto& b_at) {
    for (std::size_t row = 0; row < rows.count; ++row) {
      const std::int64_t a = best_of(rows, row, a_at);
      const std::int64_t b = best_of(rows, row, b_at);
      if (a < 0 && b < 0) continue;
      ++result.answers;
      if (a == b) continue;
      const auto place = [&](std::int64_t i) {
        return rows.begin(row) + static_cast<std::size_t>(i) * rows.stride;
      };
      const bool tied =
          a >= 0 && b >= 0 &&
          (is_tie(a_at(place(a)), a_at(place(b)), ulp) || is_tie(b_at(place(a)), b_at(place(b)), ulp));
      result.different += tied ? 0 : 1;
    }
  });
}

std::int64_t first_class(const Tensor& tensor) {
  const auto best = top1(tensor);
  return best && !best->empty() ? best->front() : -1;
}

}  // namespace

AnswerKind answer_kind(const Graph& graph, const Tensor& answer) {
  const Shape& shape = answer.shape();
  if (finds_boxes(graph)) return AnswerKind::boxes;
  if (!is_floating(answer.dtype())) return kind_of_integers(shape);
  std::size_t rank = shape.size();
  while (rank > 2 && shape[rank - 1] == 1) --rank;
  if (rank == 0 || answer.elements() == 0) return AnswerKind::numbers;
  const std::string& name = graph.values[graph.outputs[0]].name;
  const bool classes = makes_classes(maker_of(graph, graph.outputs[0]));
  if (rank <= 2) {
    const bool features = says(name, {"embed", "hidden", "feature", "pool", "vector"});
    return shape[rank - 1] < 2 || (features && !classes) ? AnswerKind::numbers : AnswerKind::classes;
  }
  if (rank == 3 && shape[2] > 1)
    return classes || says(name, {"logit", "prob", "token", "score"}) ? AnswerKind::tokens
                                                                      : AnswerKind::numbers;
  const bool named = says(name, {"seg", "mask", "class", "logit"});
  return shape[class_axis(graph, AnswerKind::map, shape)] > 1 && (classes || named) ? AnswerKind::map
                                                                                    : AnswerKind::numbers;
}

OutputAgreement answer_agreement(const Graph& graph, const Tensor& left, const Tensor& right) {
  OutputAgreement result;
  const AnswerKind kind = answer_kind(graph, left);
  result.kind = kind;
  result.top1_left = first_class(left);
  result.top1_right = first_class(right);
  if (left.dtype() != right.dtype() || left.shape() != right.shape() || left.elements() == 0) return result;
  if (!is_floating(left.dtype())) {
    result.answers = left.elements();
    for (std::size_t i = 0; i < static_cast<std::size_t>(left.elements()); ++i)
      result.different += number_at(left, i) == number_at(right, i) ? 0 : 1;
  } else if (left.rank() > 0) {
    compare_rows(result, rows_along(left.shape(), class_axis(graph, kind, left.shape())), left, right);
  }
  const double allowed = kind == AnswerKind::map ? moved_borders * static_cast<double>(result.answers) : 0.0;
  result.agree = result.answers > 0 && static_cast<double>(result.different) <= allowed;
  return result;
}

std::optional<bool> same_answer(const OutputAgreement& output) {
  if (!output.kind)
    return output.top1_left >= 0 && output.top1_right >= 0 ? std::optional(output.agree) : std::nullopt;
  switch (*output.kind) {
    case AnswerKind::classes:
    case AnswerKind::map:
    case AnswerKind::tokens: return output.answers > 0 ? std::optional(output.agree) : std::nullopt;
    default: return std::nullopt;
  }
}

}  // namespace driftscope
