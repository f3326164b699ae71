#include <doctest/doctest.h>

#include "core/verify/perturbation.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::observer_test {
namespace {

Graph graph() {
  ModelBuilder model;
  model.input("x", DType::float32, {2}).node("Relu", {"x"}, {"y"}).output("y");
  return built(model);
}

Trace with_output(const std::vector<float>& values) {
  Trace trace;
  trace.tensors = {{"y", tensor<float>({static_cast<std::int64_t>(values.size())}, values)}};
  return trace;
}

}  // namespace

TEST_CASE("ObserverCheck_SameBits_SaysUnchanged") {
  Trace trace = with_output({1.0f, 2.0f});
  const auto check = check_perturbation(graph(), trace, with_output({1.0f, 2.0f}));
  REQUIRE(check.ok());
  CHECK_FALSE(check->changed());
  CHECK(perturbation_text(trace).empty());
  add_perturbation_check(trace, *check);
  CHECK(perturbation_text(trace) == "capturing changed none of the 2 elements of the outputs");
}

TEST_CASE("ObserverCheck_OtherBits_CountsThemAndTheirDistance") {
  Trace trace = with_output({1.0f, 2.0f});
  trace.run = R"({"engine":"fast"})";
  const auto check = check_perturbation(graph(), trace, with_output({1.0f, 2.0000005f}));
  REQUIRE(check.ok());
  CHECK(check->changed());
  add_perturbation_check(trace, *check);
  CHECK(perturbation_text(trace) == "capturing changed 1 of the 2 elements of the outputs, by up to 2 ULP");
  CHECK(trace.run.find("\"engine\":\"fast\"") != std::string::npos);
  const auto read = perturbation_check_of(trace);
  REQUIRE(read);
  CHECK(read->different_elements == 1);
  CHECK(read->max_ulp == 2.0);
}

TEST_CASE("ObserverCheck_OtherShape_IsAChange_MissingOutputAnError") {
  const auto check = check_perturbation(graph(), with_output({1.0f, 2.0f}), with_output({1.0f}));
  REQUIRE(check.ok());
  CHECK(check->changed());
  CHECK(check->reason.find("output y") != std::string::npos);
  CHECK(!check_perturbation(graph(), with_output({1.0f, 2.0f}), Trace()).ok());
}

}  // namespace driftscope::test::observer_test
