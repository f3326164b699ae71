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

Result<ModelForm> untouched(const CreateRequest& request) {
  DRIFTSCOPE_TRY(auto model, backend().create(request));
  return ModelForm{std::move(model), {}, {}};
}

Result<ModelForm> with_outputs(CreateRequest request, CapturePlan plan, std::string_view how) {
  DRIFTSCOPE_TRY(const auto bytes, with_graph_outputs(request.model, plan.added));
  request.model = bytes;
  DRIFTSCOPE_TRY(auto model, backend().create(request));
  ModelForm form{std::move(model), std::move(plan.added), {}};
  form.facts["captured"] = fmt::format("{} values: {}", form.captured.size(), how);
  if (plan.hidden > 0)
    form.facts["not_captured"] = fmt::format("{} values, the first: {}", plan.hidden, plan.hidden_why);
  return form;
}

/// Every value is made an output before ONNX Runtime sees the model.
Result<ModelForm> with_every_value(const Graph& graph, const CreateRequest& request) {
  DRIFTSCOPE_TRY(const ModelOutline outline, outline_model(request.model));
  return with_outputs(request, plan_capture(graph, outline, backend()),
                      "made outputs of the graph, so that nothing is fused across them");
}

/// What ONNX Runtime has made of the model, and of it the values that are left: the kernels are those of
/// a run that is not traced.
Result<ModelForm> as_optimized(const Graph& graph, CreateRequest request) {
  request.keep_optimized = true;
  DRIFTSCOPE_TRY(const auto rewritten, backend().create(request));
  DRIFTSCOPE_TRY(const auto bytes, rewritten->optimized());
  DRIFTSCOPE_TRY(const ModelOutline outline, outline_model(bytes));
  request.model = bytes;
  request.optimization = Optimization::none;
  request.keep_optimized = false;
  return with_outputs(request, plan_fused_capture(graph, outline, backend()),
                      "left in the optimised model, made its outputs");
}

// ONNX Runtime 1.30 promises nothing; measured on every 1021st float and 3·10⁶ in [−20, 20], on AVX-512
// and as wasm, the larger of the two: tanh 6.4 ULP, sigmoid 1.9e-7 absolute beyond 4 ULP (MLAS cuts its
// argument at ±18), asin 4.3 ULP, atan 3.8, log 3.4, exp, erf, sinh and the others below 2.2.
ErrorModel measured_model() {
  ErrorModel model;
  model.tanh.ulp = 7.0;
  model.sigmoid.absolute = 2e-7;
  model.asin.ulp = 5.0;
  return model;
}

class OrtEngine final : public Engine {
 public:
  [[nodiscard]] const EngineInfo& info() const override {
    static const EngineInfo info = {
        .name = "ort",
        .summary = "ONNX Runtime, on your own model file",
        .order = 40,
        .kind = EngineKind::peer,
        .error_model = measured_model(),
        .options = option_list(),
        .dotted_options = "ONNX Runtime's own session configuration, as session.x64quantprecision=1",
        .browser_files = {"ort/ort.wasm.bundle.min.mjs", "ort/ort-wasm-simd-threaded.wasm"}};
    return info;
  }
  [[nodiscard]] Availability available() const override { return backend().available(); }
  [[nodiscard]] bool reads_source() const override { return true; }
  /// It reads none: the weights are ONNX Runtime's.
  [[nodiscard]] bool reads_deferred() const override { return true; }

  /// ONNX Runtime accepts or rejects a model as a whole.
  [[nodiscard]] Availability supports(const Graph& /*graph*/, const Node& /*node*/) const override {
    return {};
  }

 protected:
  [[nodiscard]] Result<std::unique_ptr<Session>> make_session(std::shared_ptr<const Graph> graph,
                                                              const EngineOptions& given) const override {
    const Options options = read_options(given);
    if (!given.source) return internal_error("engine ort was prepared without the model's bytes");
    RanWith ran;
    ran.engine = "ort";
    ran.device = "CPU";
    ran.threads_asked = options.threads;
    ran.options = {{"opt", std::string(optimization_name(options.optimization))},
                   {"version", std::string(expected_version())},
                   {"node_times", "whole run, on the last node"}};
    ran.options.insert(options.config.begin(), options.config.end());
    const CreateRequest request{given.source->model, given.source, options.optimization, options.threads,
                                options.config};
    std::function<Result<ModelForm>()> make_traced;
    if (const std::string why = backend().hides_optimized(); given.fuse && !why.empty())
      ran.options["fused_values"] = "none: " + why;
    else if (given.fuse)
      make_traced = [graph, request] { return as_optimized(*graph, request); };
    DRIFTSCOPE_TRY(ModelForm form, given.fuse ? untouched(request) : with_every_value(*graph, request));
    return std::unique_ptr<Session>(std::make_unique<RuntimeSession>(std::move(graph), std::move(form),
                                                                     std::move(ran), std::move(make_traced)));
  }
};

}  // namespace
}  // namespace ort

std::unique_ptr<Engine> make_ort_engine() { return std::make_unique<ort::OrtEngine>(); }

}  // namespace driftscope
