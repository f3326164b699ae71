// What a model answers as one number that moves with every layer's rounding: how far the best class is ahead,
// or how far the output is from where it was. Client: answer_sensitivity.
#pragma once

#include <string>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/trace/trace_view.hpp"

namespace driftscope {

/// Σ direction[i] · value[i]. Of a row of classes: the best class less the second of the first sample, in
/// logits, so that an answer changes when rounding moves it below 0. Of other outputs: the elements with
/// fixed random signs over √n, which moves by about the root mean square of the elements' movements.
struct AnswerNumber {
  std::string text;   ///< "the lead of class 7 over class 3"
  std::string value;  ///< whose elements: logits, or the first output
  std::vector<float> direction;
};

/// `recorded`: has the first output. Errors: it is missing, empty, an integer, or not finite.
[[nodiscard]] Result<AnswerNumber> answer_number(const Graph& graph, const TraceView& recorded);

/// The number in a tensor of the answer's value; nothing where it does not fit, or holds no finite numbers.
[[nodiscard]] std::optional<double> number_in(const AnswerNumber& answer, const Tensor& value);

/// The tensor that was recorded under a name; nothing where there is none or it cannot be read.
[[nodiscard]] std::optional<Tensor> recorded_tensor(const TraceView& recorded, std::string_view name);

}  // namespace driftscope
