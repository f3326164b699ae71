// Values that were read back wrongly: nobody is accused who did not compute from them.
#include <doctest/doctest.h>

#include "core/base/half.hpp"
#include "core/platform/platform.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/verify/verified.hpp"

namespace driftscope::test::unread_values_test {
namespace {

Tensor given() { return tensor<float>({1, 2}, {1, 2}); }
Tensor zeros() { return tensor<float>({2, 3}, {0, 0, 0, 0, 0, 0}); }
Tensor turned() { return tensor<float>({3, 2}, {0.5f, 2, 1, 2.5f, 1.5f, 3}); }

/// A constant in float16 that a Cast and a Transpose make a weight, as converters write it.
ModelBuilder cast_constant() {
  return ModelBuilder()
      .input("x", DType::float32, {1, 2})
      .initializer("w16", halves({2, 3}, {0.5, 1, 1.5, 2, 2.5, 3}))
      .node("Cast", {"w16"}, {"w"}, {integer("to", 1)})
      .named("cast")
      .node("Transpose", {"w"}, {"wt"}, {ints("perm", {1, 0})})
      .named("turn")
      .node("MatMul", {"x", "w"}, {"y"})
      .named("product")
      .output("y");
}

}  // namespace

TEST_CASE("Verify_CastConstantReadBackAsZeros_AccusesNobody") {
  const Tensor y = tensor<float>({1, 3}, {4.5f, 6, 7.5f});
  const Verification verification =
      verified(cast_constant(), {{"x", given()}, {"w", zeros()}, {"wt", turned()}, {"y", y}});
  REQUIRE(verification.layers.size() == 3);
  CHECK(verification.layers[0].verdict == Verdict::unjudged);
  CHECK(reason_of(verification.layers[0]).find("what was recorded is not what product computed from") !=
        std::string::npos);
  CHECK(verification.layers[1].verdict == Verdict::identical);
  CHECK(reason_of(verification.layers[1]) ==
        "computed from what w should be, not from what was recorded of it");
  CHECK(verification.layers[2].verdict == Verdict::identical);
  CHECK_FALSE(verification.first_fault.has_value());
}

// One node alone is judged as it is among all.
TEST_CASE("VerifyNode_OfValuesReadBackWrongly_SaysWhatVerifySays") {
  const Graph graph = built(cast_constant());
  ThreadPool threads(1);
  for (const Tensor& y : {tensor<float>({1, 3}, {4.5f, 6, 7.5f}), tensor<float>({1, 3}, {0, 0, 0})}) {
    Trace trace;
    trace.tensors = {{"x", given()}, {"w", zeros()}, {"wt", turned()}, {"y", y}};
    const auto all = verify(graph, "", trace, threads);
    REQUIRE(all.ok());
    for (const LayerVerdict& layer : all->layers) {
      CAPTURE(layer.node);
      const auto alone = verify_node(graph, TraceView(trace), layer.node, threads);
      REQUIRE(alone.ok());
      REQUIRE(alone->layers.size() == 1);
      CHECK(alone->layers[0].verdict == layer.verdict);
      CHECK(reason_of(alone->layers[0]) == reason_of(layer));
      CHECK(alone->layers[0].explanation.has_value() == layer.explanation.has_value());
    }
  }
  CHECK_FALSE(verify_node(graph, TraceView(Trace{}), "nothing", threads).ok());
}

// One that did compute from the zeros shows that the value was wrong.
TEST_CASE("Verify_CastConstantThatOneReaderComputedFrom_IsItsFault") {
  const Verification verification =
      verified(cast_constant(),
               {{"x", given()}, {"w", zeros()}, {"wt", turned()}, {"y", tensor<float>({1, 3}, {0, 0, 0})}});
  CHECK(verification.first_fault == "cast");
  CHECK(verification.layers[0].verdict == Verdict::fault);
  CHECK(verification.layers[1].verdict == Verdict::identical);
  CHECK(verification.layers[2].verdict == Verdict::identical);
}

// Right for neither: both are wrong.
TEST_CASE("Verify_ReaderOfAWrongValueThatIsWrongItself_StaysAFault") {
  const Tensor rolled = tensor<float>({3, 2}, {2, 0.5f, 2.5f, 1, 3, 1.5f});
  const Verification verification =
      verified(cast_constant(), {{"x", given()}, {"w", zeros()}, {"wt", rolled}});
  CHECK(verification.layers[0].verdict == Verdict::fault);
  CHECK(verification.layers[1].verdict == Verdict::fault);
}

// A value that is no constant was made by its node: that stays a fault, but its readers are right. Through
// a group.
TEST_CASE("Verify_OverwrittenValue_IsNotChargedToItsReaders") {
  const ModelBuilder model = ModelBuilder()
                                 .input("x", DType::float32, {1, 2})
                                 .node("Neg", {"x"}, {"a"})
                                 .named("neg")
                                 .node("Abs", {"a"}, {"b"})
                                 .node("Exp", {"b"}, {"y"})
                                 .named("exp")
                                 .output("y");
  const Tensor y = tensor<float>({1, 2}, {2.71828183f, 7.38905610f});
  const Verification verification =
      verified(model, {{"x", given()}, {"a", tensor<float>({1, 2}, {9, 9})}, {"y", y}});
  CHECK(verification.first_fault == "neg");
  CHECK(reason_of(verification.layers[0]).find("not what exp computed from") != std::string::npos);
  CHECK(verification.layers[1].verdict < Verdict::unjudged);
  CHECK(verification.layers[1].group.size() == 1);
}

}  // namespace driftscope::test::unread_values_test
