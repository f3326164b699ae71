// Runtimes that keep float32 between recorded values of float16 are right, and nothing else is excused.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tests/unit/verify/verified.hpp"

namespace driftscope::test::wide_storage_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

double stored(double x) { return widen(float16_format, narrow(float16_format, x)); }

/// y = √(x·x + 1) with recorded values of float16; the square overflows.
Verification root(double x, double square, double sum, double y) {
  const ModelBuilder model = ModelBuilder()
                                 .input("x", DType::float16, {1})
                                 .initializer("one", halves({1}, {1.0}))
                                 .node("Mul", {"x", "x"}, {"square"})
                                 .node("Add", {"square", "one"}, {"sum"})
                                 .named("add")
                                 .node("Sqrt", {"sum"}, {"y"})
                                 .named("root")
                                 .output("y");
  return verified(model, {{"x", halves({1}, {x})},
                          {"square", halves({1}, {square})},
                          {"sum", halves({1}, {sum})},
                          {"y", halves({1}, {y})}});
}

const LayerVerdict& layer(const Verification& verification, std::string_view node) {
  return *std::ranges::find(verification.layers, node, &LayerVerdict::node);
}

}  // namespace

TEST_CASE("WideStorage_ALayerBehindAnOverflowThatWasNotRead_IsRounding") {
  const Verification verification = root(300.0, inf, inf, stored(std::sqrt(90001.0)));
  CHECK(verification.verdict == Verdict::rounding);
  REQUIRE(layer(verification, "root").findings.size() == 1);
  CHECK(layer(verification, "root").findings[0].id == "storage.wide");
  CHECK(reason_of(layer(verification, "root")).find("before they were rounded to float16") !=
        std::string::npos);
}

TEST_CASE("WideStorage_OneNodeBack_OfAValueThatCanBeHeld") {
  const Verification verification = root(200.0, stored(40000.0), stored(40001.0), stored(std::sqrt(40001.0)));
  CHECK((verification.verdict == Verdict::identical || verification.verdict == Verdict::rounding));
}

TEST_CASE("WideStorage_AnotherNumber_IsStillAFault") {
  const Verification verification = root(300.0, inf, inf, stored(250.0));
  CHECK(layer(verification, "root").verdict == Verdict::fault);
  // The square itself is wrong: nothing before it was rounded.
  CHECK(root(300.0, 1000.0, 1001.0, stored(std::sqrt(1001.0))).verdict == Verdict::fault);
}

}  // namespace driftscope::test::wide_storage_test
