// The error models of engines that are not IEEE CPU engines.
#include "core/verify/engine_models.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/numerics/bounded.hpp"

namespace driftscope::test::engine_models_test {
namespace {

ErrorModel model_of(const char* target) {
  Trace trace;
  trace.target = target;
  return error_model_of(trace);
}

}  // namespace

TEST_CASE("EngineModels_Wgsl_PromisesOfItsSpecification") {
  const ErrorModelScope scope(model_of("chrome/webgpu"));
  CHECK(sin(Bounded(1.0)).worst == doctest::Approx(0x1p-11));
  CHECK(std::isinf(sin(Bounded(4.0)).worst));  // beyond π nothing is guaranteed
  CHECK(log(Bounded(1.0)).worst >= 0x1p-21);
  CHECK(log(Bounded(1.0)).worst < 0x1.1p-21);
  CHECK(log(Bounded(1000.0)).worst == doctest::Approx(3 * 0x1p-21));  // 3 ULP at 6.9
  CHECK(atan(Bounded(1.0)).worst == doctest::Approx(4096 * 0x1p-24).epsilon(1e-3));
  // exp2(y·log2 x): the error of the logarithm grows with y.
  CHECK(pow(Bounded(1.5), Bounded(100.0)).worst > 20 * pow(Bounded(1.5), Bounded(2.0)).worst);
  // Nothing is promised of a negative base: who has whole powers of it right takes that of its size.
  CHECK(pow(Bounded(-2.0), Bounded(3.0)).worst == pow(Bounded(2.0), Bounded(3.0)).worst);
  CHECK(pow(Bounded(-2.0), Bounded(3.0)).value == -8.0);
  CHECK(pow(Bounded(0.0), Bounded(2.0)).worst < 1e-30);
  CHECK(pow(Bounded(0.0, 0.5, 0.5), Bounded(2.0)).worst >= 0.25);
  CHECK(std::isinf(pow(Bounded(0.0, 0.5, 0.5), Bounded(1.5)).worst));
}

TEST_CASE("EngineModels_Glsl_TrigonometryIsUndefined") {
  const ErrorModelScope scope(model_of("firefox/webgl"));
  CHECK(std::isinf(sin(Bounded(1.0)).worst));
  CHECK(std::isinf(atan(Bounded(1.0)).worst));
  CHECK(exp(Bounded(1.0)).worst < 1e-5);
}

TEST_CASE("EngineModels_Cpu_FourUlp") {
  const ErrorModelScope scope(model_of("pc/fast"));
  CHECK(sin(Bounded(4.0)).worst == doctest::Approx(4 * 0x1p-24));
  CHECK(erf(Bounded(0.5)).worst == doctest::Approx(4 * 0x1p-24));
}

TEST_CASE("EngineModels_Ort_AsMeasured") {
  const ErrorModelScope scope(model_of("chrome/ort:threads=2"));
  // Got 1.79e-7 for sigmoid(−17.64), where 2.2e-8 would be right.
  CHECK(sigmoid(Bounded(-17.6406784)).worst > 1.57e-7);
  CHECK(sigmoid(Bounded(-17.6406784)).worst < 3e-7);
  CHECK(tanh(Bounded(0.75)).worst == doctest::Approx(7 * 0x1p-24));
  CHECK(erf(Bounded(0.5)).worst == doctest::Approx(4 * 0x1p-24));
}

TEST_CASE("EngineModels_EnginesThatThisBuildLacks_GoByTheirKind") {
  CHECK(model_of("chrome/tfjs-webgpu").unit_roundoff == 0x1p-23);
  CHECK(model_of("firefox/ort-webgl:threads=1").sin.reach < 0);
  CHECK(model_of("chrome/tfjs-wasm").unit_roundoff == 0x1p-24);
  CHECK(model_of("pc/pytorch").gelu_erf.absolute == 8e-7);
  CHECK(model_of("pc/nobody-knows").keeps_specials);
}

}  // namespace driftscope::test::engine_models_test
