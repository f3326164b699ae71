// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/engine_models.hpp"

#include <array>
#include <string_view>

#include "core/base/json.hpp"
#include "core/numerics/gpu_error_models.hpp"
#include "core/numerics/subnormal_rows.hpp"
#include "core/runtime/engine.hpp"

namespace driftscope {
namespace {

// Measured: oneDNN, which computes Gelu for PyTorch on x86, uses Abramowitz and Stegun 7.1.26 in float32
// for erf. 1 + erf differed by up to 5.8e-7 from the exact value, including the last roundings, on every 37th
// float with 2⁻³⁰ ≤ |x| < 6 (PyTorch 1.13).
ErrorModel pytorch_model() {
  ErrorModel model;
  model.gelu_erf.absolute = 8e-7;
  return keeping_subnormals(model);
}

// Engines that this build may lack, by the kind of their arithmetic: names of engines that use WebGPU or
// WebGL shaders end accordingly ("webgpu", "ort-webgpu"), and some traces come from elsewhere.
struct Row {
  std::string_view kind;
  ErrorModel (*model)();
};
constexpr std::array<Row, 3> rows = {{
    {"webgpu", wgsl_model},
    {"webgl", glsl_model},
    {"pytorch", pytorch_model},
}};

ErrorModel model_of(std::string_view engine) {
  if (const auto here = find_engine(engine); here.ok()) return (*here)->info().error_model;
  const std::string_view kind = engine.substr(engine.rfind('-') + 1);
  for (const Row& row : rows)
    if (row.kind == kind) return row.model();
  return keeping_subnormals({});
}

// The engine that ran, or else the one in the target's name: "chrome/webgl:fp16=1".
std::string engine_name(const Trace& trace, const nlohmann::json& run) {
  if (const auto engine = run.find("engine"); engine != run.end() && engine->is_string())
    return engine->get<std::string>();
  const auto slash = trace.target.find('/');
  if (slash == std::string::npos) return "";
  const std::string rest = trace.target.substr(slash + 1);
  return rest.substr(0, rest.find(':'));
}

nlohmann::json run_of(const Trace& trace) {
  auto run = parse_json(trace.run);
  return run.is_object() ? run : nlohmann::json::object();
}

// Half precision only where the run says that it uses it: option fp16=1 or precision=fp16.
bool uses_half_precision(const nlohmann::json& run) {
  const auto options = run.find("options");
  if (options == run.end() || !options->is_object()) return false;
  const auto is = [&](const char* name, std::initializer_list<const char*> values) {
    const auto option = options->find(name);
    if (option == options->end() || !option->is_string()) return false;
    for (const char* value : values)
      if (option->get<std::string>() == value) return true;
    return false;
  };
  return is("fp16", {"1", "true", "on"}) || is("precision", {"fp16", "float16", "half"});
}

// A list, or a single id.
std::vector<std::string> algorithms_in(const nlohmann::json& run) {
  std::vector<std::string> named;
  const auto found = run.find("algorithms");
  if (found == run.end()) return named;
  if (found->is_string()) named.push_back(found->get<std::string>());
  if (found->is_array())
    for (const auto& one : *found)
      if (one.is_string()) named.push_back(one.get<std::string>());
  return named;
}

}  // namespace

RunFacts run_facts_of(const Trace& trace) {
  const nlohmann::json run = run_of(trace);
  const std::string engine = engine_name(trace, run);
  RunFacts facts;
  facts.model = model_of(engine);
  if (uses_half_precision(run)) facts.model = error_model_for(facts.model, DType::float16);
  facts.algorithms = algorithms_in(run);
  facts.may_quantize_biases = engine == "ort" || engine.starts_with("ort-");
  facts.may_flush_results = !find_engine(engine).ok();
  return facts;
}

ErrorModel error_model_of(const Trace& trace) { return run_facts_of(trace).model; }

}  // namespace driftscope
