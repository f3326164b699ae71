#include "core/mutants/activation_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/runtime/bind_inputs.hpp"

namespace driftscope {
namespace {

/// Layers whose neurons count: as DeepHunter, without activations, normalisation and what only moves values.
constexpr std::array counted_operators = {"Conv",        "ConvTranspose",     "Gemm", "MatMul", "MaxPool",
                                          "AveragePool", "GlobalAveragePool", "Add"};

bool counts(const Graph& graph, ValueId id, std::int64_t batch) {
  const Value& value = graph.values[id];
  if (value.producer == no_node) return false;
  const std::string& op = graph.nodes[value.producer].op_type;
  const auto shape = value.static_shape();
  return value.dtype == DType::float32 && shape && shape->size() >= 2 && (*shape)[0] == batch &&
         std::ranges::find(counted_operators, op) != counted_operators.end();
}

/// The scores of classes: what goes into a last Softmax, whose own outputs are all much alike where the model
/// is sure.
ValueId scores_of(const Graph& graph) {
  const ValueId output = graph.outputs[0];
  const NodeId producer = graph.values[output].producer;
  if (producer == no_node) return output;
  const std::string& op = graph.nodes[producer].op_type;
  return op == "Softmax" || op == "LogSoftmax" ? graph.nodes[producer].inputs[0] : output;
}

/// The mean of each channel of each picture, and its scores.
class NeuronSink final : public TraceSink {
 public:
  NeuronSink(const Graph& graph, std::int64_t batch, std::span<Activations> runs)
      : graph_(graph), scores_(scores_of(graph)), batch_(batch), runs_(runs) {}

  bool wants(ValueId value) const override { return value == scores_ || counts(graph_, value, batch_); }

  Status value(ValueId value, const Tensor& tensor) override {
    if (value == scores_) take_scores(tensor);
    if (!counts(graph_, value, batch_)) return {};
    const auto channels = static_cast<std::size_t>(tensor.shape()[1]);
    const auto elements = tensor.values<float>();
    const std::size_t area =
        elements.size() / static_cast<std::size_t>(batch_) / std::max<std::size_t>(channels, 1);
    for (std::size_t n = 0; n < runs_.size(); ++n)
      for (std::size_t c = 0; c < channels && area > 0; ++c) {
        double sum = 0.0;
        for (const float x : elements.subspan((n * channels + c) * area, area)) sum += static_cast<double>(x);
        runs_[n].neurons.push_back(static_cast<float>(sum / static_cast<double>(area)));
      }
    return {};
  }

  void node_done(NodeId, std::int64_t) override {}

 private:
  void take_scores(const Tensor& tensor) {
    const auto scores = tensor.values<float>();
    const std::size_t classes = scores.size() / static_cast<std::size_t>(batch_);
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const auto own = scores.subspan(i * classes, classes);
      runs_[i].outputs.assign(own.begin(), own.end());
    }
  }

  const Graph& graph_;
  ValueId scores_;
  std::int64_t batch_;
  std::span<Activations> runs_;
};

Shape batch_shape(const Preprocess& how, std::int64_t batch) {
  if (how.layout == Layout::nhwc) return {batch, how.height, how.width, how.channels};
  return {batch, how.channels, how.height, how.width};
}

}  // namespace

Result<ActivationRunner> ActivationRunner::make(const Graph& graph, const Preprocess& how,
                                                std::string_view engine_name, std::int64_t batch) {
  DRIFTSCOPE_TRY(const Engine* const engine, find_engine(engine_name));
  ActivationRunner runner;
  runner.how_ = how;
  runner.batch_ = batch;
  DRIFTSCOPE_TRY(Tensor input, Tensor::make(how.dtype, batch_shape(how, batch), "a batch of pictures"));
  auto bound = bind_inputs(graph, {{how.input, input}});
  if (!bound.ok() && batch > 1) return make(graph, how, engine_name, 1);
  if (!bound.ok()) return std::move(bound).error();
  runner.graph_ = bound->graph;
  runner.input_ = std::move(input);
  const Graph& made = *runner.graph_;
  const bool has_output = !made.outputs.empty();
  const auto shape = has_output ? made.values[scores_of(made)].static_shape() : std::nullopt;
  if (!shape || shape->size() < 2 || (*shape)[0] != batch ||
      made.values[scores_of(made)].dtype != DType::float32)
    return unsupported(
        "the model's first output must be scores of classes for each picture: float32, N x classes");
  for (ValueId id = 0; id < made.values.size(); ++id)
    if (counts(made, id, batch))
      runner.neurons_ += static_cast<std::size_t>((*made.values[id].static_shape())[1]);
  if (runner.neurons_ == 0)
    return unsupported(
        fmt::format("the model has no layer whose neurons count: {}", fmt::join(counted_operators, ", ")));
  EngineOptions options;
  DRIFTSCOPE_TRY(runner.session_, engine->prepare(runner.graph_, options));
  return runner;
}

Status ActivationRunner::run_batch(std::span<const StoredPicture* const> pictures,
                                   std::vector<Activations>& results) {
  // A run may still share the tensor of the last one.
  DRIFTSCOPE_TRY(Tensor input,
                 Tensor::from_bytes(how_.dtype, input_.shape(), input_.bytes(), "a batch of pictures"));
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    DRIFTSCOPE_TRY(const Tensor one, preprocess(how_, std::as_bytes(std::span(pictures[i]->pixels))));
    const auto from = one.bytes();
    std::ranges::copy(from, input.mutable_bytes().subspan(i * from.size(), from.size()).begin());
  }
  input_ = input;
  std::vector<Activations> runs(pictures.size());
  NeuronSink sink(*graph_, batch_, runs);
  DRIFTSCOPE_TRY(const std::vector<Tensor> outputs, run_to_end(*session_, {std::move(input)}, sink));
  static_cast<void>(outputs);
  for (Activations& run : runs) {
    if (run.neurons.size() != neurons_ || run.outputs.empty())
      return internal_error(fmt::format("a run recorded {} of {} neurons and {} scores", run.neurons.size(),
                                        neurons_, run.outputs.size()));
    results.push_back(std::move(run));
  }
  return {};
}

Result<std::vector<Activations>> ActivationRunner::run(std::span<const StoredPicture* const> pictures) {
  std::vector<Activations> results;
  const auto size = static_cast<std::size_t>(batch_);
  for (std::size_t begin = 0; begin < pictures.size(); begin += size)
    DRIFTSCOPE_CHECK(run_batch(pictures.subspan(begin, std::min(size, pictures.size() - begin)), results));
  return results;
}

}  // namespace driftscope
