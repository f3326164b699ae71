// What does not depend on the inputs is computed once.
#include <doctest/doctest.h>

#include "core/eval/infer_shapes.hpp"
#include "core/lowering/fold_constants.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::fold_constants_test {
namespace {

const Value& value_of(const Graph& graph, std::string_view name) {
  for (const Value& value : graph.values)
    if (value.name == name) return value;
  FAIL("no value " << name);
  return graph.values[0];
}

Graph folded(const ModelBuilder& model) {
  auto inferred = infer_shapes(built(model));
  REQUIRE_MESSAGE(inferred.ok(), inferred.error().message);
  ThreadPool threads(1);
  return lowering::fold_constants(*std::move(inferred), threads);
}

}  // namespace

// As PyTorch writes the bounds of relu6.
TEST_CASE("FoldConstants_CastLikeOfAConstant_NeedsOnlyTheOthersType") {
  const Graph graph = folded(ModelBuilder()
                                 .opset(18)
                                 .input("x", DType::float32, {2, 3})
                                 .initializer("six", tensor<std::int64_t>({}, {6}))
                                 .node("CastLike", {"six", "x"}, {"bound"})
                                 .node("Shape", {"x"}, {"sizes"})
                                 .node("Expand", {"bound", "sizes"}, {"wide"})
                                 .node("CastLike", {"x", "six"}, {"computed"})
                                 .node("Min", {"x", "wide"}, {"y"})
                                 .output("y")
                                 .output("computed"));
  const Value& wide = value_of(graph, "wide");
  REQUIRE(wide.constant);
  CHECK(wide.constant->dtype() == DType::float32);
  CHECK(wide.constant->shape() == Shape{2, 3});
  CHECK(wide.constant->values<float>()[5] == 6.0f);
  CHECK_FALSE(value_of(graph, "computed").constant);
  CHECK_FALSE(value_of(graph, "y").constant);
}

}  // namespace driftscope::test::fold_constants_test
