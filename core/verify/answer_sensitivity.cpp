// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/answer_sensitivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/format.hpp"
#include "core/base/json.hpp"
#include "core/eval/exact_run.hpp"
#include "core/eval/infer_shapes.hpp"
#include "core/gradient/gradient.hpp"
#include "core/gradient/sensitivity.hpp"
#include "core/graph/build.hpp"
#include "core/graph/graph_model.hpp"
#include "core/graph/multiply_adds.hpp"
#include "core/platform/platform.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "core/verify/derivation.hpp"
#include "core/verify/engine_models.hpp"

namespace driftscope {
namespace {

constexpr std::string_view answer_output = "driftscope/answer";
constexpr double unknown_move = std::numeric_limits<double>::quiet_NaN();

std::vector<double> elements_of(const Evaluated<double>& value) {
  return is_known(value) ? lift_values<double>(value.tensor) : value.real;
}

Result<NamedInputs> inputs_of(const Graph& graph, const TraceView& recorded) {
  NamedInputs inputs;
  for (const ValueId id : graph.inputs) {
    const std::string& name = graph.values[id].name;
    auto tensor = recorded_tensor(recorded, name);
    if (!tensor) return bad_input(fmt::format("the input {} was not recorded", name));
    inputs.push_back({name, *std::move(tensor)});
  }
  return inputs;
}

/// The model with the answer's number as an output, summed over its elements by the gradient itself.
Result<Model> with_answer(const Graph& graph, const AnswerNumber& answer) {
  DRIFTSCOPE_TRY(Model model, model_of(graph));
  const Value& value = graph.values[*graph.find_value(answer.value)];
  const auto shape = value.static_shape();
  if (!shape || element_count(*shape) != std::ssize(answer.direction))
    return unsupported(fmt::format("the shape of {} is not known before it runs", answer.value));
  const Evaluated<double> wide{
      value.dtype, *shape, std::vector<double>(answer.direction.begin(), answer.direction.end()), {}};
  DRIFTSCOPE_TRY(Tensor direction, lower(wide));
  const std::string name(answer_output);
  model.graph.initializers.push_back({name + "/direction", std::move(direction)});
  model.graph.nodes.push_back({name, "Mul", "", {answer.value, name + "/direction"}, {name}, {}});
  model.graph.outputs = {{name, value.dtype, value.shape}};
  return model;
}

/// The layers on which the answer depends.
std::vector<std::string> layers_before(Graph graph, const std::string& answer) {
  graph.outputs = {*graph.find_value(answer)};
  return sensitive_values(graph, 0);
}

/// Why there is no gradient, without the options of `gradient`, which nobody has here.
Error without_advice(Error error) {
  error.message = error.message.substr(0, error.message.find("; "));
  return error;
}

struct Counter {
  const VerifyProgress& progress;
  std::int64_t done = 0;
  std::int64_t total = 0;

  Status next() {
    if (progress && !progress(std::min(++done, total), total))
      return Error{ErrorKind::cancelled, "the sensitivity was stopped"};
    return {};
  }
};

/// Constants and values of the graph itself, as far as their sizes are known.
double bytes_of(const Graph& graph) {
  double bytes = 0.0;
  for (const Value& value : graph.values) {
    if (value.constant) bytes += static_cast<double>(value.constant->byte_size());
    const auto shape = value.constant ? std::nullopt : value.static_shape();
    const auto size = shape ? tensor_byte_size(value.dtype, *shape) : Result<std::int64_t>(0);
    if (size.ok()) bytes += static_cast<double>(*size);
  }
  return bytes;
}

Status expect_cheap(const Graph& graph) {
  if (const double work = multiply_adds(graph); work > cheap_multiply_adds)
    return Error{ErrorKind::limit,
                 fmt::format("a run of the model is {:.0f} million multiplications, and by itself it is "
                             "computed up to {:.0f} million; --sensitivity computes it",
                             work / 1e6, cheap_multiply_adds / 1e6)};
  if (const double bytes = bytes_of(graph); bytes > cheap_bytes)
    return Error{ErrorKind::limit,
                 fmt::format("the model's weights and values have {}, and by itself it is computed up to {}; "
                             "--sensitivity computes it",
                             format_bytes(static_cast<std::int64_t>(bytes)),
                             format_bytes(static_cast<std::int64_t>(cheap_bytes)))};
  return {};
}

}  // namespace

Result<AnswerSensitivity> AnswerSensitivity::prepare(const Graph& graph, const TraceView& recorded,
                                                     SensitivityWanted wanted, ThreadPool& threads,
                                                     const VerifyProgress& progress) {
  AnswerSensitivity made;
  DRIFTSCOPE_TRY(made.answer_, answer_number(graph, recorded));
  DRIFTSCOPE_TRY(NamedInputs inputs, inputs_of(graph, recorded));
  DRIFTSCOPE_TRY(BoundInputs bound, bind_inputs(graph, inputs));
  made.graph_ = bound.graph;
  if (wanted != SensitivityWanted::always) DRIFTSCOPE_CHECK(expect_cheap(*bound.graph));
  DRIFTSCOPE_TRY(const Model model, with_answer(*bound.graph, made.answer_));
  const std::vector<std::string> layers = layers_before(*bound.graph, made.answer_.value);
  GradientRequest request;
  request.of = answer_output;
  request.wrt = layers;
  auto made_gradient = make_gradient(model, request);
  if (!made_gradient.ok()) return without_advice(std::move(made_gradient).error());
  const GradientModel gradient = *std::move(made_gradient);
  DRIFTSCOPE_TRY(Graph backward, build_graph(gradient.model));
  DRIFTSCOPE_TRY(backward, infer_shapes(std::move(backward)));

  Counter counter{progress};
  counter.total =
      static_cast<std::int64_t>(bound.graph->values.size() + backward.nodes.size() + backward.inputs.size());
  DRIFTSCOPE_CHECK(run_exactly(
      *bound.graph, bound.inputs, threads, [&](ValueId id, const Evaluated<double>& value) -> Status {
        DRIFTSCOPE_CHECK(counter.next());
        const std::string& name = bound.graph->values[id].name;
        if (name == made.answer_.value) {
          const std::vector<double> elements = elements_of(value);
          for (std::size_t i = 0; i < elements.size() && i < made.answer_.direction.size(); ++i)
            made.exact_ += static_cast<double>(made.answer_.direction[i]) * elements[i];
        }
        DRIFTSCOPE_TRY(Tensor rounded, lower(value, &threads));
        made.values_.tensors.push_back({name, std::move(rounded)});
        return {};
      }));
  std::map<std::string, std::string> layer_of;
  for (std::size_t i = 0; i < layers.size(); ++i) layer_of[gradient.gradients[i]] = layers[i];
  // The model's own nodes come first in it, so that inputs keep their order.
  std::vector<Tensor> again;
  for (const ValueId id : backward.inputs)
    for (const NamedTensor& tensor : made.values_.tensors)
      if (tensor.name == backward.values[id].name) again.push_back(tensor.tensor);
  DRIFTSCOPE_CHECK(
      run_exactly(backward, again, threads, [&](ValueId id, const Evaluated<double>& value) -> Status {
        DRIFTSCOPE_CHECK(counter.next());
        if (const auto found = layer_of.find(backward.values[id].name); found != layer_of.end())
          made.slopes_[found->second] = elements_of(value);
        return {};
      }));
  for (const auto& [layer, slopes] : made.slopes_)
    if (!std::ranges::all_of(slopes, [](double slope) { return std::isfinite(slope); }))
      return bad_input(fmt::format("the gradient of the answer by {} is not finite", layer));
  return made;
}

Result<PredictedLayers> AnswerSensitivity::predict(const ErrorModel& model, ThreadPool& threads,
                                                   const VerifyProgress& progress) const {
  const TraceView view(values_);
  const RecordedValues recorded(*graph_, view);
  DRIFTSCOPE_TRY(Derivation derivation, Derivation::plan(*graph_, recorded, model));
  PredictedLayers predicted;
  Counter counter{progress};
  counter.total = std::ssize(derivation.nodes());
  double squares = 0.0;
  for (const NodeId id : derivation.nodes()) {
    DRIFTSCOPE_CHECK(counter.next());
    std::vector<Derived> outputs = derivation.derive(id, threads);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const ValueId value = graph_->nodes[id].outputs[i];
      if (value == no_value) continue;
      const auto slopes = slopes_.find(graph_->values[value].name);
      if (slopes == slopes_.end()) continue;
      const std::vector<Bounded>& budget = outputs[i].reference.real;
      PredictedLayers::Layer layer;
      double likely = 0.0;
      // Values that strict kernels pass on have no elements here, and no error.
      const bool known =
          outputs[i].reason.empty() && (budget.empty() || budget.size() == slopes->second.size());
      for (std::size_t e = 0; known && e < budget.size(); ++e) {
        const double slope = std::fabs(slopes->second[e]);
        if (slope == 0.0) continue;  // an infinite bound on what the answer does not depend on is no matter
        layer.worst += slope * budget[e].worst;
        likely += slope * slope * budget[e].likely * budget[e].likely;
      }
      layer.likely = std::sqrt(likely);
      if (!known || !std::isfinite(layer.worst) || !std::isfinite(likely)) {
        ++predicted.unbounded;
        continue;
      }
      predicted.worst += layer.worst;
      squares += likely;
      predicted.layers[graph_->values[value].name] = layer;
    }
    derivation.recycle(std::move(outputs));
  }
  predicted.likely = std::sqrt(squares);
  return predicted;
}

Result<PredictedLayers> AnswerSensitivity::predict(const Target& target, ThreadPool& threads,
                                                   const VerifyProgress& progress) const {
  Trace planned;  // says of the target what its run will say
  planned.target = target.text();
  planned.run = json_text(nlohmann::json{{"engine", target.engine}, {"options", target.options}});
  return predict(error_model_of(planned), threads, progress);
}

double AnswerSensitivity::moved(std::string_view output, std::span<const Bounded> reference,
                                const Tensor& got) const {
  const auto slopes = slopes_.find(output);
  if (slopes == slopes_.end() || !is_floating(got.dtype()) || slopes->second.size() != reference.size() ||
      got.elements() != std::ssize(reference))
    return unknown_move;
  const std::vector<double> values = lift_values<double>(got);
  double sum = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (slopes->second[i] != 0.0) sum += slopes->second[i] * (values[i] - reference[i].value);
  return std::isfinite(sum) ? sum : unknown_move;
}

double AnswerSensitivity::not_moved(std::string_view output) const {
  return slopes_.contains(output) ? 0.0 : unknown_move;
}

void AnswerSensitivity::conclude(const PredictedLayers& predicted, const TraceView& recorded,
                                 Verification& verification) const {
  AnswerMove move;
  move.answer = answer_.text;
  move.exact = exact_;
  move.worst = predicted.worst;
  move.likely = predicted.likely;
  move.layers = std::ssize(predicted.layers);
  move.unbounded = predicted.unbounded;
  double explained = 0.0;
  for (LayerVerdict& layer : verification.layers) {
    if (!std::isnan(layer.moved)) explained += layer.moved;
    const auto found = predicted.layers.find(layer.output);
    if (found == predicted.layers.end()) continue;
    layer.can_move = found->second.worst;
    layer.likely_move = found->second.likely;
    const double share = predicted.likely > 0.0 ? found->second.likely / predicted.likely : 0.0;
    layer.sensitivity = share * share;
  }
  move.explained = explained;
  for (const ValueId id : graph_->inputs) {
    const std::string& name = graph_->values[id].name;
    const auto theirs = recorded_tensor(recorded, name);
    const Tensor* const ours = values_.find(name);
    if (!theirs || ours == nullptr || !std::ranges::equal(theirs->bytes(), ours->bytes())) {
      move.left_out = fmt::format("its input {} is not the one for which this was predicted", name);
      break;
    }
  }
  if (move.left_out.empty()) {
    const auto value = recorded_tensor(recorded, answer_.value);
    const auto number = value ? number_in(answer_, *value) : std::nullopt;
    if (number) move.seen = *number - exact_;
  }
  verification.answer = std::move(move);
}

}  // namespace driftscope
