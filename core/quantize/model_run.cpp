#include "core/quantize/model_run.hpp"

#include <fmt/format.h>

#include "core/eval/infer_shapes.hpp"
#include "core/graph/build.hpp"

namespace driftscope::quantize {
namespace {

class Keeping final : public TraceSink {
 public:
  Keeping(const Graph& graph, const std::set<std::string>& wanted) : graph_(graph), wanted_(wanted) {}
  [[nodiscard]] bool wants(ValueId value) const override {
    return wanted_.contains(graph_.value_name(value));
  }
  Status value(ValueId value, const Tensor& tensor) override {
    if (wants(value)) kept.insert_or_assign(graph_.value_name(value), tensor);
    return {};
  }
  void node_done(NodeId, std::int64_t) override {}

  Values kept;

 private:
  const Graph& graph_;
  const std::set<std::string>& wanted_;
};

}  // namespace

Result<ModelRun> ModelRun::prepare(const Model& model, std::set<std::string> wanted) {
  ModelRun made;
  DRIFTSCOPE_TRY(Graph graph, build_graph(model));
  DRIFTSCOPE_TRY(graph, infer_shapes(std::move(graph)));
  if (graph.outputs.empty()) return bad_input("the model has no outputs");
  made.output_ = graph.value_name(graph.outputs[0]);
  made.graph_ = std::make_shared<const Graph>(std::move(graph));
  made.wanted_ = std::move(wanted);
  return made;
}

Result<Values> ModelRun::run(const NamedInputs& inputs) {
  std::vector<Shape> shapes;
  for (const NamedTensor& input : inputs) shapes.push_back(input.tensor.shape());
  DRIFTSCOPE_TRY(BoundInputs bound, bind_inputs(*graph_, inputs));
  if (session_ == nullptr || shapes != shapes_) {
    DRIFTSCOPE_TRY(const Engine* const engine, find_engine("strict"));
    EngineOptions options;
    options.inner_values = !wanted_.empty();
    DRIFTSCOPE_TRY(std::unique_ptr<Session> session, engine->prepare(bound.graph, options));
    bound_ = bound.graph;
    session_ = std::move(session);
    shapes_ = std::move(shapes);
  }
  Keeping sink(*bound_, wanted_);
  DRIFTSCOPE_TRY(std::vector<Tensor> outputs, run_to_end(*session_, std::move(bound.inputs), sink));
  for (std::size_t i = 0; i < outputs.size(); ++i)
    sink.kept.insert_or_assign(bound_->value_name(bound_->outputs[i]), std::move(outputs[i]));
  return std::move(sink.kept);
}

}  // namespace driftscope::quantize
