#include "core/verify/engine_models.hpp"

#include <array>
#include <string_view>

#include "core/base/json.hpp"

namespace driftscope {
namespace {

// WebGPU Shading Language, section "Accuracy of Concrete Floating Point Expressions": + − × correctly
// rounded in an unspecified direction (one ULP), x / y 2.5 ULP, exp 3 + 2·|x| ULP, sqrt inherited from
// 1 / inverseSqrt (2 + 2.5 ULP), tanh 1e-5 absolute or inherited. Section "Differences from IEEE-754":
// subnormals may be flushed, NaN and infinity may be assumed absent, reassociation is allowed.
// Sigmoid is no built-in: 1 / (1 + exp(−x)) has the error of exp, of one + and of one ÷. log 3 ULP, or
// 2⁻²¹ absolute in [0.5, 2]; sin and cos 2⁻¹¹ absolute in [−π, π]; atan 4096 ULP; asin and acos 6.8e-5
// absolute or inherited from atan2(x, √(1 − x²)), whose root loses half the digits at ±1; sinh, cosh,
// tan, pow and the inverse hyperbolic functions inherited. erf is no built-in either: runtimes take
// Abramowitz and Stegun 7.1.26, 1.5e-7 from the truth before rounding.
constexpr double pi = 3.14159265358979323846;

ErrorModel wgsl_model() {
  constexpr double smallest_normal = 0x1p-126;
  ErrorModel model;
  model.unit_roundoff = 0x1p-23;
  model.rounds_to_nearest = false;
  model.absolute = smallest_normal;
  model.flushes_subnormals = true;
  model.keeps_specials = false;
  model.division_ulp = 2.5;
  model.sqrt_ulp = 4.5;
  model.exp = {3.0, 2.0, smallest_normal};
  model.tanh = {5.0, 0.0, 1e-5};
  model.sigmoid = {3.0 + 1.0 + 2.5, 2.0, smallest_normal};
  model.log = {3.0, 0.0, smallest_normal};
  model.log_absolute = 0x1p-21;
  model.sin = {0.0, 0.0, 0x1p-11, pi};
  model.asin = {4096.0, 0.0, 0x1p-11};
  model.atan = {4096.0, 0.0, smallest_normal};
  model.erf = model.gelu_erf = {4.0, 0.0, 2e-6};
  model.derives_functions = true;
  return model;
}

// OpenGL ES Shading Language 3.00.6, section 4.5.1 "Range and Precision", highp: + − × correctly
// rounded in an unspecified direction, x / y 2.5 ULP, exp 3 + 2·|x| ULP, sqrt inherited from
// 1 / inversesqrt (2 + 2.5 ULP); NaN need not propagate, subnormals may be flushed. tanh is inherited
// from (eˣ − e⁻ˣ) / (eˣ + e⁻ˣ), whose difference cancels near 0: absolute there. Of the trigonometric
// functions and their inverses the precision is undefined.
ErrorModel glsl_model() {
  ErrorModel model = wgsl_model();
  model.sin.reach = model.asin.reach = model.atan.reach = -1.0;
  return model;
}

ErrorModel ieee_model() { return {}; }

// ONNX Runtime 1.30 promises nothing; measured on every 1021st float and 3·10⁶ in [−20, 20], on AVX-512
// and as wasm, the larger of the two: tanh 6.4 ULP, sigmoid 1.9e-7 absolute beyond 4 ULP (MLAS cuts its
// argument at ±18), asin 4.3 ULP, atan 3.8, log 3.4, exp, erf, sinh and the others below 2.2.
ErrorModel ort_model() {
  ErrorModel model = ieee_model();
  model.tanh.ulp = 7.0;
  model.sigmoid.absolute = 2e-7;
  model.asin.ulp = 5.0;
  return model;
}

// Measured: oneDNN, which computes Gelu for PyTorch on x86, takes Abramowitz and Stegun 7.1.26 in float32
// for erf there. 1 + erf came out up to 5.8e-7 from the truth, the last roundings included, on every 37th
// float with 2⁻³⁰ ≤ |x| < 6 (PyTorch 1.13).
ErrorModel pytorch_model() {
  ErrorModel model = ieee_model();
  model.gelu_erf.absolute = 8e-7;
  return model;
}

// XNNPACK asks for subnormal numbers to be read and written as zeros wherever the processor can
// (PTHREADPOOL_FLAG_DISABLE_DENORMALS, src/operator-run.c): x86 can, WebAssembly cannot.
ErrorModel xnnpack_model() {
  ErrorModel model;
  model.absolute = 0x1p-126;
  model.flushes_subnormals = true;
  return model;
}

struct Row {
  std::string_view engine;
  ErrorModel (*model)();
};
constexpr std::array<Row, 9> rows = {{
    {"fast", xnnpack_model},
    {"ort", ort_model},
    {"pytorch", pytorch_model},
    {"webgpu", wgsl_model},
    {"ort-webgpu", wgsl_model},
    {"tfjs-webgpu", wgsl_model},
    {"webgl", glsl_model},
    {"ort-webgl", glsl_model},
    {"tfjs-webgl", glsl_model},
}};

// The engine that ran, else the one of the target's name: "chrome/webgl:fp16=1".
std::string engine_name(const Trace& trace, const nlohmann::json& run) {
  if (const auto engine = run.find("engine"); engine != run.end() && engine->is_string())
    return engine->get<std::string>();
  const auto slash = trace.target.find('/');
  if (slash == std::string::npos) return "";
  const std::string rest = trace.target.substr(slash + 1);
  return rest.substr(0, rest.find(':'));
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

}  // namespace

ErrorModel error_model_of(const Trace& trace) {
  auto run = parse_json(trace.run);
  if (!run.is_object()) run = nlohmann::json::object();
  const std::string engine = engine_name(trace, run);
  ErrorModel model = ieee_model();
  for (const Row& row : rows)
    if (row.engine == engine) model = row.model();
  if (uses_half_precision(run)) model = error_model_for(model, DType::float16);
  return model;
}

}  // namespace driftscope
