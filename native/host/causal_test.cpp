#include "native/host/causal_test.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/format.hpp"
#include "core/graph/graph_model.hpp"
#include "core/model/element.hpp"
#include "core/model/onnx_writer.hpp"
#include "core/model/tensor_elements.hpp"
#include "core/repro/cut.hpp"
#include "core/repro/excerpt.hpp"
#include "core/runtime/target.hpp"
#include "core/verify/answer.hpp"
#include "core/verify/verdict.hpp"
#include "native/host/host.hpp"

namespace driftscope {
namespace {

/// The expected values in the type of the model.
Result<Tensor> lowered(const Tensor& expected, DType dtype) {
  if (expected.dtype() == dtype) return expected;
  DRIFTSCOPE_TRY(Tensor made, Tensor::make(dtype, expected.shape()));
  const auto from = expected.values<double>();
  visit_floating(dtype, [&]<class E>() {
    const auto to = made.mutable_values<typename E::Stored>();
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = E::nearest(from[i]);
  });
  return made;
}

double largest_difference(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape()) return HUGE_VAL;
  const std::vector<double> x = numbers_of(a);
  const std::vector<double> y = numbers_of(b);
  double largest = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
    const double difference = std::fabs(x[i] - y[i]);
    largest = std::fmax(largest, std::isnan(difference) ? HUGE_VAL : difference);
  }
  return largest;
}

}  // namespace

const std::string& CausalTester::answer_name() const {
  return model_.graph.values[model_.graph.outputs[0]].name;
}

Status CausalTester::run_right() {
  if (right_answer_) return {};
  const auto run = [&](const char* engine) -> Result<Trace> {
    RunRequest request;
    request.model = &model_;
    for (const ValueId id : model_.graph.inputs) {
      const std::string& name = model_.graph.values[id].name;
      const Tensor* const tensor = trace_.find(name);
      if (tensor == nullptr) return bad_input(fmt::format("the trace does not hold the input '{}'", name));
      request.inputs.push_back({name, *tensor});
    }
    request.plan.capture = messages::Capture::outputs;
    Target target;
    target.host = default_host();
    target.engine = engine;
    return runner_.run(target, request, progress_);
  };
  DRIFTSCOPE_TRY(const Trace reference, run("reference"));
  DRIFTSCOPE_TRY(const Trace strict, run("strict"));
  const Tensor* const right = reference.find(answer_name());
  const Tensor* const rounded = strict.find(answer_name());
  if (right == nullptr || rounded == nullptr) return bad_input("the reference gave no answer");
  right_answer_ = *right;
  spread_ = largest_difference(*right, *rounded);
  return {};
}

bool CausalTester::is_right(const Tensor& answer) const {
  const auto same = same_answer(answer_agreement(model_.graph, *right_answer_, answer));
  // Numbers are right within the errors of correct float32, with room for other orders of summation.
  constexpr double room = 16.0;
  return same ? *same : largest_difference(*right_answer_, answer) <= room * spread_ + 1e-30;
}

Result<Trace> CausalTester::run_behind(const Graph& cut, const std::string& value, const Tensor& right,
                                       const Trace& trace, messages::Capture capture) {
  DRIFTSCOPE_TRY(const Model made, model_of(cut));
  DRIFTSCOPE_TRY(std::vector<std::byte> bytes, write_onnx(made));
  DRIFTSCOPE_TRY(const ModelFile model,
                 load_model_bytes("cut.onnx", "cut.onnx", SharedBytes(std::move(bytes)), {}));
  RunRequest request;
  request.model = &model;
  for (const ValueId id : cut.inputs) {
    const std::string& name = cut.values[id].name;
    const Tensor* const tensor = name == value ? &right : trace.find(name);
    if (tensor == nullptr) return bad_input(fmt::format("the trace does not hold the input '{}'", name));
    request.inputs.push_back({name, *tensor});
  }
  request.plan.capture = capture;
  DRIFTSCOPE_TRY(Trace ran, runner_.run(target_, request, progress_));
  for (const NamedTensor& input : request.inputs)
    if (ran.find(input.name) == nullptr) ran.tensors.push_back(input);
  ran.model_sha256.clear();
  if (ran.find(answer_name()) == nullptr) return bad_input("the target gave no answer");
  return ran;
}

Result<CausalTest> CausalTester::test_alone(const std::string& node) {
  DRIFTSCOPE_TRY(const Excerpt excerpt, excerpt_of(model_.graph, TraceView(trace_), node, threads_));
  DRIFTSCOPE_TRY(const Tensor right, lowered(excerpt.expected, excerpt.got.tensor.dtype()));
  const std::string& value = excerpt.verdict.output;
  DRIFTSCOPE_TRY(const Graph cut, cut_at(model_.graph, value));
  DRIFTSCOPE_TRY(const Trace ran, run_behind(cut, value, right, trace_, messages::Capture::outputs));
  const Tensor& answer = *ran.find(answer_name());
  const Tensor* const own = trace_.find(answer_name());
  const bool was_right = own != nullptr && is_right(*own);
  CausalTest result{.answer_with_layer_right = {}, .right = is_right(answer)};
  const double before = own == nullptr ? HUGE_VAL : largest_difference(*right_answer_, *own);
  const double after = largest_difference(*right_answer_, answer);
  const std::string errors =
      std::isfinite(before) && std::isfinite(after)
          ? fmt::format(" (largest error {}, {} before)", format_number(after), format_number(before))
          : std::string();
  if (result.right && !was_right)
    result.answer_with_layer_right =
        fmt::format("with this layer right, the answer is right on {}{}", target_.text(), errors);
  else if (result.right)
    result.answer_with_layer_right =
        fmt::format("the answer is right on {} with this layer wrong as well{}", target_.text(), errors);
  else
    result.answer_with_layer_right =
        fmt::format("with this layer right, the answer is still wrong on {}{}", target_.text(), errors);
  return result;
}

// One after the other: what the next layer reads is what the target makes of the right values before it.
Result<bool> CausalTester::right_with_all(const std::vector<std::string>& nodes) {
  Graph graph = model_.graph;
  Trace trace = trace_;
  for (const std::string& name : nodes) {
    // Behind an earlier cut it may not be needed any more.
    if (std::ranges::find(graph.nodes, name, &Node::name) == graph.nodes.end()) continue;
    DRIFTSCOPE_TRY(const Excerpt excerpt, excerpt_of(graph, TraceView(trace), name, threads_));
    DRIFTSCOPE_TRY(const Tensor right, lowered(excerpt.expected, excerpt.got.tensor.dtype()));
    const std::string value = excerpt.verdict.output;
    DRIFTSCOPE_TRY(Graph cut, cut_at(graph, value));
    DRIFTSCOPE_TRY(trace, run_behind(cut, value, right, trace, messages::Capture::all));
    graph = std::move(cut);
  }
  return is_right(*trace.find(answer_name()));
}

Result<CausalTest> CausalTester::test(const std::string& node) {
  DRIFTSCOPE_CHECK(run_right());
  return test_alone(node);
}

Status CausalTester::test(Verification& verification) {
  if (std::ranges::none_of(verification.layers,
                           [](const LayerVerdict& one) { return one.explanation.has_value(); }))
    return {};
  DRIFTSCOPE_CHECK(run_right());
  CausalSummary summary{.target = target_.text()};
  const Tensor* const own = trace_.find(answer_name());
  summary.was_right = own != nullptr && is_right(*own);
  std::vector<std::string> nodes;
  for (LayerVerdict& layer : verification.layers) {
    if (!layer.explanation) continue;
    auto tested = test_alone(layer.node);
    if (!tested.ok()) {
      summary.not_tested.push_back(fmt::format("{} ({})", layer.node, tested.error().message));
      continue;
    }
    if (std::ranges::find(nodes, layer.node) == nodes.end()) {
      nodes.push_back(layer.node);
      if (tested->right) summary.alone.push_back(layer.node);
    }
    layer.explanation->matters = *std::move(tested);
  }
  summary.layers = std::ssize(nodes);
  constexpr std::size_t most_together = 32;
  if (!summary.was_right && summary.alone.empty() && nodes.size() > 1 && nodes.size() <= most_together) {
    const auto together = right_with_all(nodes);
    if (together.ok())
      summary.together = *together;
    else
      summary.not_tested.push_back(fmt::format("all together ({})", together.error().message));
  }
  verification.matters = std::move(summary);
  return {};
}

}  // namespace driftscope
