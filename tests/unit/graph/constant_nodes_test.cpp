// Which nodes no input reaches.
#include "core/graph/constant_nodes.hpp"

#include <doctest/doctest.h>

#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::constant_nodes_test {

TEST_CASE("ConstantNodes_ReadConstantsAlone_ThroughOthers") {
  ModelBuilder model;
  model.input("x", DType::float32, {2})
      .initializer("w", tensor<float>({2}, {1, 2}))
      .node("Neg", {"w"}, {"a"})
      .node("Abs", {"a"}, {"b"})
      .node("Add", {"x", "b"}, {"y"})
      .output("y");
  CHECK(constant_nodes(built(model)) == std::vector<bool>{true, true, false});
}

TEST_CASE("ConstantNodes_ModelOfConstantsAlone_HasNone") {
  ModelBuilder model;
  model.initializer("w", tensor<float>({2}, {1, 2})).node("Neg", {"w"}, {"y"}).output("y");
  CHECK(constant_nodes(built(model)) == std::vector<bool>{false});
}

TEST_CASE("ConstantNodes_RandomNumbers_AreNone") {
  ModelBuilder model;
  model.input("x", DType::float32, {2})
      .initializer("w", tensor<float>({2}, {0, 0}))
      .node("RandomNormalLike", {"w"}, {"r"})
      .node("Add", {"x", "r"}, {"y"})
      .output("y");
  CHECK(constant_nodes(built(model)) == std::vector<bool>{false, false});
}

}  // namespace driftscope::test::constant_nodes_test
