// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/answer_number.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/rng.hpp"
#include "core/gradient/loss.hpp"
#include "core/verify/answer.hpp"
#include "core/verify/tensor_values.hpp"
#include "core/verify/top1.hpp"

namespace driftscope {
namespace {

constexpr std::uint64_t sign_seed = 1;

/// The best two classes of the first row, which lies at the start of the tensor.
std::pair<std::size_t, std::size_t> best_two(const Tensor& output, std::size_t classes) {
  std::pair<std::size_t, std::size_t> best = {0, 1};
  with_float_values(output, [&](const auto& at) {
    if (at(1) > at(0)) best = {1, 0};
    for (std::size_t i = 2; i < classes; ++i)
      if (at(i) > at(best.first))
        best = {i, best.first};
      else if (at(i) > at(best.second))
        best.second = i;
  });
  return best;
}

bool all_finite(const Tensor& tensor) {
  bool finite = true;
  with_float_values(tensor, [&](const auto& at) {
    for (std::size_t i = 0; finite && i < static_cast<std::size_t>(tensor.elements()); ++i)
      finite = std::isfinite(at(i));
  });
  return finite;
}

}  // namespace

std::optional<Tensor> recorded_tensor(const TraceView& recorded, std::string_view name) {
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    if (recorded[i].name != name) continue;
    auto tensor = recorded.load(i);
    if (!tensor.ok()) return std::nullopt;
    return *std::move(tensor);
  }
  return std::nullopt;
}

Result<AnswerNumber> answer_number(const Graph& graph, const TraceView& recorded) {
  if (graph.outputs.empty()) return bad_input("the model has no output");
  const std::string& name = graph.values[graph.outputs[0]].name;
  const auto output = recorded_tensor(recorded, name);
  if (!output) return bad_input(fmt::format("the output {} was not recorded", name));
  if (!is_floating(output->dtype()))
    return unsupported(fmt::format("the output {} is {}: rounding moves only floating numbers", name,
                                   dtype_name(output->dtype())));
  if (output->elements() == 0) return bad_input(fmt::format("the output {} is empty", name));
  if (!all_finite(*output)) return bad_input(fmt::format("the output {} has NaN or infinity", name));
  AnswerNumber answer;
  answer.direction.assign(static_cast<std::size_t>(output->elements()), 0.0f);
  const std::int64_t classes = class_count(output->shape());
  if (answer_kind(graph, *output) == AnswerKind::classes && classes >= 2) {
    const auto [best, second] = best_two(*output, static_cast<std::size_t>(classes));
    DRIFTSCOPE_TRY(const ValueId logits, logits_of(graph, graph.outputs[0]));
    answer.value = graph.values[logits].name;
    answer.direction[best] = 1.0f;
    answer.direction[second] = -1.0f;
    answer.text = fmt::format("the lead of class {} over class {}", best, second);
    return answer;
  }
  answer.value = name;
  answer.text = output->elements() == 1 ? name : name + " as a whole (root mean square)";
  const auto size = static_cast<float>(1.0 / std::sqrt(static_cast<double>(output->elements())));
  Rng signs(sign_seed);
  for (float& part : answer.direction) part = output->elements() == 1 || signs.below(2) == 0 ? size : -size;
  return answer;
}

std::optional<double> number_in(const AnswerNumber& answer, const Tensor& value) {
  if (!is_floating(value.dtype()) || value.elements() != std::ssize(answer.direction)) return std::nullopt;
  double sum = 0.0;
  with_float_values(value, [&](const auto& at) {
    for (std::size_t i = 0; i < answer.direction.size(); ++i)
      if (answer.direction[i] != 0.0f) sum += static_cast<double>(answer.direction[i]) * at(i);
  });
  return std::isfinite(sum) ? std::optional(sum) : std::nullopt;
}

}  // namespace driftscope
