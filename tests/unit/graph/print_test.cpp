#include "core/graph/print.hpp"

#include <doctest/doctest.h>

#include "unit/support/model_builder.hpp"

namespace driftscope::test::print_test {

TEST_CASE("PrintGraph_ShowsEveryKindOfLine") {
  const std::string body = ModelBuilder()
                               .input("a", DType::float32, {2})
                               .node("Add", {"a", "x"}, {"b"})
                               .node("Add", {"b", "limit"}, {"c"})
                               .output("c")
                               .graph_message();
  const Graph graph =
      built(ModelBuilder("tiny")
                .input("x", DType::float32, {"N", 1, 28, ""})
                .initializer("w", tensor<float>({6, 1, 5, 5}, std::vector<float>(150)))
                .initializer("shape", tensor<std::int64_t>({2}, {-1, 10}))
                .initializer("limit", tensor<float>({}, {0.5f}))
                .node("Conv", {"x", "w", ""}, {"c"},
                      {ints("pads", {2, 2, 2, 2}), text("auto_pad", "NOTSET"), real("alpha", 0.25f)})
                .named("conv")
                .node("Mine", {"c", "shape"}, {"y", "", "z"},
                      {tensor_attribute("t", tensor<float>({9}, std::vector<float>(9)))}, "com.example")
                .graph_attribute("body", body)
                .opset("com.example", 1)
                .node("Split", {"limit"}, {"l"}, {ints("split", std::vector<std::int64_t>(10, 1))})
                .output("y", DType::float32, {"N", 10})
                .output("z"));
  CHECK(print_graph(graph) ==
        R"(graph tiny
input  x: float32 Nx1x28x?
const  w: float32 6x1x5x5
const  shape: int64 2 = [-1,10]
const  limit: float32 scalar = [0.5]
conv = Conv[pads=[2,2,2,2] auto_pad='NOTSET' alpha=0.25](x, w, _) -> c: ? (unknown rank)
Mine_1 = com.example.Mine[t={float32 9} body={graph of 2 nodes}](c, shape))"
        R"( -> y: float32 Nx10, _: (omitted), z: ? (unknown rank)
  body:
    input  a: float32 2
    outer  x: float32 Nx1x28x?
    const  limit: float32 scalar = [0.5]
    Add_0 = Add(a, x) -> b: ? (unknown rank)
    Add_1 = Add(b, limit) -> c: ? (unknown rank)
    output c: ? (unknown rank)
Split_2 = Split[split=[1,1,1,1,1,1,1,1,… 10 in all]](limit) -> l: ? (unknown rank)
output y: float32 Nx10
output z: ? (unknown rank)
)");
}

}  // namespace driftscope::test::print_test
