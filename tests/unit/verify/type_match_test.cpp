// Traces of other programs in other types than the model's.
#include "core/verify/type_match.hpp"

#include <doctest/doctest.h>

#include "core/eval/infer_shapes.hpp"
#include "core/platform/platform.hpp"
#include "core/trace/trace_file.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::type_match_test {
namespace {

/// x and the scalar s in float32, i in int64: x · s → a; Gather(a, i) → y.
Graph graph() {
  ModelBuilder model;
  model.input("x", DType::float32, {3})
      .input("s", DType::float32, {})
      .input("i", DType::int64, {2})
      .node("Mul", {"x", "s"}, {"a"})
      .node("Gather", {"a", "i"}, {"y"})
      .output("y");
  auto inferred = infer_shapes(built(model));
  REQUIRE_MESSAGE(inferred.ok(), inferred.error().message);
  return *std::move(inferred);
}

/// As a framework that computes in float64 and counts in int32 records it.
Trace wide_trace() {
  Trace trace;
  trace.tensors = {{"x", tensor<double>({3}, {0.1, 0.25, -3.0})},
                   {"s", tensor<double>({1}, {2.0})},
                   {"i", tensor<std::int32_t>({2}, {2, 0})},
                   {"a", tensor<double>({3}, {0.2, 0.5, -6.0})},
                   {"y", tensor<double>({2}, {-6.0, 0.2})}};
  return trace;
}

Result<Verification> verified(const TraceView& view) {
  ThreadPool threads(1);
  return verify(graph(), "", view, threads);
}

}  // namespace

TEST_CASE("MatchTypes_WiderFloatsAndNarrowerIntegers_AreConvertedAndJudged") {
  const Trace trace = wide_trace();
  const auto bytes = write_trace(trace);
  REQUIRE(bytes.ok());
  const auto opened = TraceView::open(*bytes);
  REQUIRE(opened.ok());
  CHECK(!verified(TraceView(trace)).ok());
  for (TraceView view : {TraceView(trace), *opened}) {
    const auto converted = match_types(graph(), view);
    REQUIRE(converted.size() == 5);
    convert_types(converted, view);
    const auto result = verified(view);
    REQUIRE_MESSAGE(result.ok(), result.error().message);
    CHECK(result->verdict == Verdict::identical);
    CHECK(
        type_match_text(converted) ==
        "5 tensors were converted: x: float64 taken as float32, s: float64 taken as float32 shape 1 taken as "
        "scalar, i: int32 taken as int64, …");
  }
}

TEST_CASE("MatchTypes_OfATrace_IsNotedInItsRun") {
  Trace trace = wide_trace();
  REQUIRE(convert_types(match_types(graph(), TraceView(trace)), trace).ok());
  CHECK(trace.find("i")->dtype() == DType::int64);
  CHECK(trace.find("i")->values<std::int64_t>()[0] == 2);
  CHECK(trace.find("s")->shape().empty());
  CHECK(type_match_text(trace).find("5 tensors were converted") == 0);
  CHECK(type_match_text(Trace()).empty());
}

TEST_CASE("MatchTypes_WhatWouldLoseSomethingOrIsOfThisVeryModel_IsLeft") {
  Trace narrow;
  narrow.tensors = {{"x", tensor<std::int32_t>({3}, {1, 2, 3})}, {"unknown", tensor<double>({1}, {1})}};
  CHECK(match_types(graph(), TraceView(narrow)).empty());
  Trace own = wide_trace();
  own.model_sha256 = std::string(64, 'a');
  CHECK(match_types(graph(), TraceView(own)).empty());
}

}  // namespace driftscope::test::type_match_test
