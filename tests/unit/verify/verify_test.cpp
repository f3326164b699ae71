#include <doctest/doctest.h>

#include <limits>

#include "core/base/json.hpp"
#include "core/platform/platform.hpp"
#include "core/results/verify_json.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/verify/small_nets.hpp"

namespace driftscope::test::verify_test {
namespace {

Graph chain() {
  ModelBuilder model;
  model.opset(17)
      .input("x", DType::float32, {"N", 3})
      .initializer("w", tensor<float>({3}, {0.1f, 0.2f, 0.3f}))
      .node("Add", {"x", "w"}, {"a"})
      .node("Relu", {"a"}, {"b"})
      .node("Mul", {"b", "w"}, {"y"})
      .output("y");
  return built(model);
}

const std::vector<float> x = {1.0f, -2.0f, 0.7f};
const std::vector<float> w = {0.1f, 0.2f, 0.3f};

// What a correct engine records.
Trace right_trace() {
  std::vector<float> a(3), b(3), y(3);
  for (std::size_t i = 0; i < 3; ++i) {
    a[i] = x[i] + w[i];
    b[i] = std::max(a[i], 0.0f);
    y[i] = b[i] * w[i];
  }
  Trace trace;
  trace.tensors = {{"x", tensor<float>({1, 3}, x)},
                   {"a", tensor<float>({1, 3}, a)},
                   {"b", tensor<float>({1, 3}, b)},
                   {"y", tensor<float>({1, 3}, y)}};
  return trace;
}

Tensor& tensor_of(Trace& trace, const std::string& name) {
  for (NamedTensor& named : trace.tensors)
    if (named.name == name) return named.tensor;
  FAIL("no tensor " << name);
  return trace.tensors[0].tensor;
}

Result<Verification> verified(const Trace& trace, const std::string& sha = "") {
  ThreadPool threads(1);
  return verify(chain(), sha, trace, threads);
}

std::string failure(const Trace& trace, const std::string& sha = "") {
  const auto result = verified(trace, sha);
  REQUIRE(!result.ok());
  CHECK(result.error().kind == ErrorKind::bad_input);
  return result.error().message;
}

}  // namespace

TEST_CASE("Verify_RightTrace_IsIdentical") {
  const auto result = verified(right_trace());
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  CHECK(result->verdict == Verdict::identical);
  CHECK(!result->first_fault);
  REQUIRE(result->layers.size() == 3);
  CHECK(result->layers[0].node == "Add_0");
  CHECK(result->layers[2].output == "y");
}

TEST_CASE("Verify_OneUlpOffInAnAddition_IsAFaultOfThatNodeAlone") {
  Trace trace = right_trace();
  float& a = tensor_of(trace, "a").mutable_values<float>()[2];
  a = std::nextafter(a, 10.0f);
  // The next nodes continue from the wrong number, correctly.
  tensor_of(trace, "b").mutable_values<float>()[2] = a;
  tensor_of(trace, "y").mutable_values<float>()[2] = a * w[2];
  const auto result = verified(trace);
  REQUIRE(result.ok());
  CHECK(result->verdict == Verdict::fault);
  CHECK(result->first_fault == "Add_0");
  CHECK(result->layers[0].budget_used > 1.0);
  REQUIRE(result->layers[0].worst);
  CHECK(result->layers[0].worst->index == std::vector<std::int64_t>{0, 2});
  CHECK(result->layers[1].verdict == Verdict::identical);
  CHECK(result->layers[2].verdict == Verdict::identical);
}

TEST_CASE("Verify_SignOfZero_IsReportedButNoFault") {
  Trace trace = right_trace();
  tensor_of(trace, "b").mutable_values<float>()[1] = -0.0f;
  const auto result = verified(trace);
  REQUIRE(result.ok());
  CHECK(result->layers[1].verdict == Verdict::rounding);
  CHECK(result->layers[1].metrics.different_elements == 1);
  CHECK(result->layers[1].budget_used == 0.0);
}

TEST_CASE("Verify_NaNSwallowed_IsAFault") {
  Trace trace = right_trace();
  const float not_a_number = std::numeric_limits<float>::quiet_NaN();
  for (const char* name : {"x", "a"}) tensor_of(trace, name).mutable_values<float>()[0] = not_a_number;
  tensor_of(trace, "b").mutable_values<float>()[0] = 0.0f;
  tensor_of(trace, "y").mutable_values<float>()[0] = 0.0f;
  const auto result = verified(trace);
  REQUIRE(result.ok());
  CHECK(result->first_fault == "Relu_1");
  CHECK(result->layers[0].verdict == Verdict::identical);
  CHECK(reason_of(result->layers[1]).find("NaN") != std::string::npos);
  CHECK(result->layers[2].verdict == Verdict::identical);
}

TEST_CASE("Verify_WrongShapeOrType_IsAFaultWithTheReason") {
  Trace trace = right_trace();
  tensor_of(trace, "b") = tensor<float>({3}, {1.1f, 0.0f, 1.0f});
  auto result = verified(trace);
  REQUIRE(result.ok());
  CHECK(result->first_fault == "Relu_1");
  CHECK(reason_of(result->layers[1]).starts_with("expected float32 of shape 1x3, got float32 of shape 3"));
  tensor_of(trace, "b") = tensor<double>({1, 3}, {1.1, 0.0, 1.0});
  result = verified(trace);
  REQUIRE(result.ok());
  CHECK(result->first_fault == "Relu_1");
  // Nodes that read it cannot be judged, and give the reason.
  CHECK(result->layers[2].verdict == Verdict::unjudged);
  CHECK(!reason_of(result->layers[2]).empty());
}

TEST_CASE("Verify_UnrecordedValues_AreEvaluatedWithTheNextRecordedOne") {
  Trace trace = right_trace();
  std::erase_if(trace.tensors, [](const NamedTensor& t) { return t.name == "a" || t.name == "b"; });
  auto result = verified(trace);
  REQUIRE(result.ok());
  REQUIRE(result->layers.size() == 1);
  CHECK(result->layers[0].verdict < Verdict::suspect);
  CHECK(result->layers[0].group == std::vector<std::string>{"Add_0", "Relu_1"});
  tensor_of(trace, "y").mutable_values<float>()[0] *= 1.00001f;
  result = verified(trace);
  REQUIRE(result.ok());
  CHECK(result->first_fault == "Mul_2");
}

TEST_CASE("Verify_NothingToCompare_IsAnError") {
  Trace trace;
  CHECK(failure(trace).find("nothing could be compared") != std::string::npos);
  trace.tensors = {{"conv1/out", tensor<float>({1}, {1})}};
  CHECK(failure(trace).find("1 of them are not values") != std::string::npos);
  trace.tensors = {{"x", tensor<float>({1, 3}, x)}};
  CHECK(failure(trace).find("nothing could be compared") != std::string::npos);
}

TEST_CASE("Verify_OnlyUnknownOperators_IsUnjudgedAndNamesThem") {
  ModelBuilder model;
  model.input("x", DType::float32, {1}).node("Frobnicate", {"x"}, {"y"}).output("y");
  Trace trace;
  trace.tensors = {{"x", tensor<float>({1}, {1})}, {"y", tensor<float>({1}, {1})}};
  ThreadPool threads(1);
  const auto result = verify(built(model), "", trace, threads);
  REQUIRE(result.ok());
  CHECK(result->verdict == Verdict::unjudged);
  CHECK(reason_of(result->layers[0]).find("Frobnicate") != std::string::npos);
}

TEST_CASE("Verify_UnknownOperatorAmongKnownOnes_IsUnjudged") {
  ModelBuilder model;
  model.input("x", DType::float32, {1})
      .node("Frobnicate", {"x"}, {"y"})
      .node("Relu", {"y"}, {"z"})
      .output("z");
  Trace trace;
  for (const char* name : {"x", "y", "z"}) trace.tensors.push_back({name, tensor<float>({1}, {1})});
  ThreadPool threads(1);
  const auto result = verify(built(model), "", trace, threads);
  REQUIRE(result.ok());
  CHECK(result->layers[0].verdict == Verdict::unjudged);
  CHECK_FALSE(was_measured(result->layers[0]));
  CHECK(reason_of(result->layers[0]).find("Frobnicate") != std::string::npos);
  CHECK(result->layers[1].verdict == Verdict::identical);
  CHECK(result->verdict == Verdict::unjudged);
}

TEST_CASE("Verify_OtherModel_IsAnError") {
  Trace trace = right_trace();
  trace.model_sha256 = "aaaa";
  CHECK(failure(trace, "bbbb").find("bbbb") != std::string::npos);
  CHECK(verified(trace, "aaaa").ok());
  CHECK(verified(trace, "").ok());
}

TEST_CASE("Verify_MissingOrWrongInput_IsAnError") {
  Trace trace = right_trace();
  tensor_of(trace, "x") = tensor<float>({1, 4}, {1, 2, 3, 4});
  CHECK(failure(trace).find("expected shape Nx3, the trace has 1x4") != std::string::npos);
  tensor_of(trace, "x") = tensor<double>({1, 3}, {1, 2, 3});
  CHECK(failure(trace).find("expected float32") != std::string::npos);
  trace.tensors.erase(trace.tensors.begin());
  CHECK(failure(trace).find("\"x\"") != std::string::npos);
  // A value that is never read is not needed.
  std::erase_if(trace.tensors, [](const NamedTensor& t) { return t.name == "a"; });
  CHECK(!verified(trace).ok());
  std::erase_if(trace.tensors, [](const NamedTensor& t) { return t.name == "b"; });
  trace.tensors.push_back({"a", *Trace(right_trace()).find("a")});
  CHECK(!verified(trace).ok());
}

TEST_CASE("Verify_Cancelled_Stops") {
  ThreadPool threads(1);
  int calls = 0;
  const auto result = verify(chain(), "", right_trace(), threads, [&](std::int64_t, std::int64_t all) {
    CHECK(all == 3);
    return ++calls < 2;
  });
  REQUIRE(!result.ok());
  CHECK(result.error().kind == ErrorKind::cancelled);
  CHECK(calls == 2);
}

TEST_CASE("Verify_ShaderEngine_IsJudgedByItsOwnStandard") {
  Trace trace = right_trace();
  float& a = tensor_of(trace, "a").mutable_values<float>()[2];
  a = std::nextafter(a, 10.0f);  // within one ULP: allowed where no rounding mode is guaranteed
  tensor_of(trace, "b").mutable_values<float>()[2] = a;
  tensor_of(trace, "y").mutable_values<float>()[2] = a * w[2];
  CHECK(verified(trace)->verdict == Verdict::fault);
  trace.target = "chrome/webgpu";
  CHECK(verified(trace)->verdict == Verdict::rounding);
  trace.target.clear();
  trace.run = R"({"engine":"webgl"})";
  CHECK(verified(trace)->verdict == Verdict::rounding);
}

TEST_CASE("VerifyJson_HasEveryKeyOfTheFormat") {
  Trace trace = right_trace();
  tensor_of(trace, "b").mutable_values<float>()[1] = std::numeric_limits<float>::quiet_NaN();
  trace.target = "pc/strict";
  const auto result = verified(trace, "abc");
  REQUIRE(result.ok());
  const auto json = parse_json(verification_json(*result));
  CHECK(json["format"] == "driftscope-verify-1");
  CHECK(json["model_sha256"] == "abc");
  CHECK(json["target"] == "pc/strict");
  CHECK(json["verdict"] == "fault");
  CHECK(json["first_fault"] == "Relu_1");
  const auto& layer = json["layers"][1];
  for (const char* key : {"node", "op", "output", "verdict", "budget_used", "budget_used_statistical",
                          "max_abs", "max_rel", "max_ulp", "mean_abs", "mean_signed_z", "cosine", "sqnr_db",
                          "different_elements", "elements", "nan", "inf", "worst"}) {
    CAPTURE(key);
    CHECK(layer.contains(key));
  }
  // No infinity and no NaN in JSON.
  CHECK(layer["budget_used"] == std::numeric_limits<double>::max());
  CHECK(layer["worst"]["got"].is_null());
  CHECK(layer["worst"]["index"] == std::vector<int>{0, 1});
  CHECK(layer["nan"] == 1);
  const auto clean = parse_json(verification_json(*verified(right_trace())));
  CHECK(clean["first_fault"].is_null());
  CHECK(clean["verdict"] == "identical");
}

}  // namespace driftscope::test::verify_test
