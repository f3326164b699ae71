// ONNX Runtime, the runtime that users would pick instead: the shared library natively, onnxruntime-web
// in a browser, the same version. It reads the user's own bytes; inner values are captured by making them
// outputs of the graph, which keeps ONNX Runtime from fusing across them (the trace says so).
#include <fmt/format.h>

#include "core/engines/ort/capture.hpp"
#include "core/engines/ort/options.hpp"
#include "core/engines/ort/session.hpp"

namespace driftscope {
namespace ort {

namespace {

class OrtEngine final : public Engine {
 public:
  [[nodiscard]] std::string name() const override { return "ort"; }
  [[nodiscard]] Availability available() const override { return backend().available(); }
  [[nodiscard]] bool reads_source() const override { return true; }

  /// ONNX Runtime judges a model as a whole.
  [[nodiscard]] Availability supports(const Graph& /*graph*/, const Node& /*node*/) const override {
    return {};
  }

  [[nodiscard]] Result<std::unique_ptr<Session>> prepare(
      std::shared_ptr<const Graph> graph, const EngineOptions& given) const override {
    DRIFTSCOPE_TRY(const Options options, read_options(given));
    if (!given.source) return internal_error("engine ort was prepared without the model's bytes");
    RanWith ran;
    ran.engine = "ort";
    ran.device = "CPU";
    ran.threads_asked = options.threads;
    ran.options = {{"opt", std::string(optimization_name(options.optimization))},
                   {"version", std::string(expected_version())},
                   {"node_times", "whole run, on the last node"}};
    CreateRequest request{given.source->model, given.source, options.optimization, options.threads};
    CapturePlan plan;
    std::vector<std::byte> bytes;
    if (!given.fuse) {
      DRIFTSCOPE_TRY(const ModelOutline outline, outline_model(given.source->model));
      plan = plan_capture(*graph, outline, backend());
      DRIFTSCOPE_TRY(bytes, with_graph_outputs(given.source->model, plan.added));
      request.model = bytes;
      ran.options["captured"] =
          fmt::format("{} values made outputs of the graph: no fusion across them", plan.added.size());
      if (plan.hidden > 0)
        ran.options["not_captured"] = fmt::format("{} values, the first: {}", plan.hidden,
                                                  plan.hidden_why);
    }
    DRIFTSCOPE_TRY(std::unique_ptr<RuntimeModel> model, backend().create(request));
    return std::unique_ptr<Session>(std::make_unique<RuntimeSession>(
        std::move(graph), std::move(model), plan.added, std::move(ran)));
  }
};

}  // namespace
}  // namespace ort

std::unique_ptr<Engine> make_ort_engine() { return std::make_unique<ort::OrtEngine>(); }

}  // namespace driftscope
