#include "core/folder/answer_drift.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/text.hpp"
#include "core/convert_check/layout.hpp"
#include "core/model/tensor_elements.hpp"
#include "core/verify/metrics.hpp"

namespace driftscope {
namespace {

const Tensor* find_named(const NamedInputs& tensors, std::string_view name) {
  const auto found = std::ranges::find(tensors, name, &NamedTensor::name);
  return found == tensors.end() ? nullptr : &found->tensor;
}

/// Largest finite |x|.
double largest_of(const Tensor& tensor) {
  const auto wide = convert::as_dtype(tensor, is_floating(tensor.dtype()) ? DType::float64 : DType::int64);
  double largest = 0.0;
  if (!wide.ok()) return largest;
  const auto look = [&](double x) {
    if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
  };
  if (wide->dtype() == DType::float64)
    for (const double x : wide->values<double>()) look(x);
  else
    for (const std::int64_t x : wide->values<std::int64_t>()) look(static_cast<double>(x));
  return largest;
}

Result<double> drift_of(const Tensor& want, const Tensor& got) {
  DRIFTSCOPE_TRY(const Metrics metrics, measure(got, want));
  if (metrics.max_abs == 0.0) return 0.0;
  const double scale = largest_of(want);
  return scale > 0.0 ? metrics.max_abs / scale : std::numeric_limits<double>::infinity();
}

}  // namespace

Result<AnswerDrift> answer_drift(const Graph& graph, const NamedInputs& want, const NamedInputs& got) {
  AnswerDrift result;
  if (graph.outputs.empty()) return bad_input("the model has no outputs");
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const std::string& name = graph.values[graph.outputs[i]].name;
    const Tensor* const reference = find_named(want, name);
    const Tensor* const other = find_named(got, name);
    if (reference == nullptr || other == nullptr)
      return bad_input(fmt::format("the output {} was not recorded {}", in_quotes(name),
                                   reference == nullptr ? "of the reference" : "of this variant"));
    if (reference->shape() != other->shape())
      return bad_input(fmt::format("the output {} is {}; the reference's is {}", in_quotes(name),
                                   shape_text(other->shape()), shape_text(reference->shape())));
    auto same_type = convert::as_dtype(*other, reference->dtype());
    if (!same_type.ok())
      return in_context(std::move(same_type).error(), fmt::format("the output {}", in_quotes(name)));
    DRIFTSCOPE_TRY(const double drift, drift_of(*reference, *same_type));
    if (i == 0) result.agreement = answer_agreement(graph, *reference, *same_type);
    if (result.output.empty() || drift > result.drift || std::isnan(drift)) {
      result.drift = drift;
      result.output = name;
    }
  }
  return result;
}

Result<NamedInputs> outputs_of(const Graph& graph, const Trace& trace) {
  NamedInputs outputs;
  for (const ValueId id : graph.outputs)
    if (const Tensor* const found = trace.find(graph.values[id].name)) {
      DRIFTSCOPE_TRY(Tensor copy, Tensor::from_bytes(found->dtype(), found->shape(), found->bytes()));
      outputs.push_back({graph.values[id].name, std::move(copy)});
    }
  return outputs;
}

Result<VariantInputs> inputs_of_variant(const Graph& graph, const NamedInputs& reference) {
  VariantInputs made;
  for (const ValueId id : graph.inputs) {
    const Value& input = graph.values[id];
    const Tensor* const given = find_named(reference, input.name);
    if (given == nullptr)
      return bad_input(
          fmt::format("it has an input {} that the reference variant lacks", in_quotes(input.name)));
    const DType wanted = input.dtype == DType::undefined ? given->dtype() : input.dtype;
    auto tensor = convert::as_dtype(*given, wanted);
    if (!tensor.ok())
      return in_context(std::move(tensor).error(), fmt::format("the input {}", in_quotes(input.name)));
    if (wanted != given->dtype())
      made.changes.push_back(fmt::format("{} as {}", input.name, dtype_name(wanted)));
    made.tensors.push_back({input.name, *std::move(tensor)});
  }
  for (const NamedTensor& one : reference)
    if (std::ranges::none_of(made.tensors, [&](const NamedTensor& mine) { return mine.name == one.name; }))
      made.changes.push_back(fmt::format("{} left out, it has no such input", one.name));
  return made;
}

}  // namespace driftscope
