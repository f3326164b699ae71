// Our graph in the form for a peer that does not read ONNX.
#include "core/engines/peer/graph_json.hpp"

#include <doctest/doctest.h>

#include "core/base/json.hpp"
#include "core/engines/peer/absent_runtime.hpp"
#include "core/engines/peer/capture.hpp"
#include "core/eval/infer_shapes.hpp"
#include "unit/support/model_builder.hpp"

namespace driftscope::test::graph_json_test {
namespace {

constexpr auto sizes = [](std::span<const std::byte> bytes) -> nlohmann::json {
  return {{"bytes", bytes.size()}};
};

Graph small() {
  return built(ModelBuilder()
                   .input("x", DType::float32, {"N", 2})
                   .initializer("w", tensor<float>({2, 1}, {3, 4}))
                   .node("Gemm", {"x", "w"}, {"y"}, {real("alpha", 0.5F), integer("transA", 0)})
                   .named("g")
                   .node("Clip", {"y", "", "high"}, {"z"})
                   .initializer("high", tensor<float>({}, {6}))
                   .node("Concat", {"z", "z"}, {"c"}, {integer("axis", 0)})
                   .output("c"));
}

}  // namespace

TEST_CASE("GraphJson_SmallGraph_NamesEverythingInOrder") {
  const auto made = peer::graph_json(small(), sizes);
  REQUIRE_MESSAGE(made.ok(), made.error().message);
  const auto& json = *made;
  CHECK(json["inputs"] == nlohmann::json{"x"});
  CHECK(json["outputs"] == nlohmann::json{"c"});
  CHECK(json["values"]["x"] == nlohmann::json{{"dtype", "float32"}});
  CHECK(json["values"]["w"] == nlohmann::json{{"dtype", "float32"}, {"shape", {2, 1}}});
  CHECK(json["constants"]["w"] == nlohmann::json{{"bytes", 8}, {"dtype", "float32"}, {"shape", {2, 1}}});
  REQUIRE(json["nodes"].size() == 3);
  CHECK(json["nodes"][0] == nlohmann::json{{"name", "g"},
                                           {"op", "Gemm"},
                                           {"opset", 21},
                                           {"inputs", {"x", "w"}},
                                           {"outputs", {"y"}},
                                           {"attributes", {{"alpha", 0.5}, {"transA", 0}}}});
  CHECK(json["nodes"][1]["inputs"] == nlohmann::json{"y", nullptr, "high"});
}

TEST_CASE("GraphJson_TensorAttribute_IsPlacedAsAConstant") {
  const auto made = peer::graph_json(
      built(ModelBuilder()
                .node("Constant", {}, {"y"}, {tensor_attribute("value", tensor<float>({3}, {1, 2, 3}))})
                .output("y")),
      sizes);
  REQUIRE(made.ok());
  CHECK((*made)["nodes"][0]["attributes"]["value"] ==
        nlohmann::json{{"bytes", 12}, {"dtype", "float32"}, {"shape", {3}}});
}

TEST_CASE("GraphJson_ListOfTensors_IsRefusedWithTheNode") {
  Graph graph = small();
  graph.nodes[0].attributes.push_back({"list", std::vector<Tensor>{}});
  const auto made = peer::graph_json(graph, sizes);
  REQUIRE(!made.ok());
  CHECK(made.error().kind == ErrorKind::unsupported);
  CHECK(made.error().message.find("Gemm") != std::string::npos);
  CHECK(made.error().message.find("list") != std::string::npos);
}

TEST_CASE("PeerCapture_OfOurGraph_AddsEveryInnerValueThatMayPass") {
  const auto inferred = infer_shapes(small());
  REQUIRE(inferred.ok());
  const Graph& graph = *inferred;
  class Picky final : public peer::Runtime {
   public:
    Availability available() const override { return {}; }
    std::string hides_rewritten() const override { return {}; }
    std::string lacks(DType dtype) const override { return dtype == DType::float32 ? lacking : ""; }
    Result<std::unique_ptr<peer::RuntimeModel>> create(const peer::CreateRequest&) const override {
      return missing_error("no");
    }
    std::string lacking;
  };
  Picky runtime;
  CHECK(peer::plan_capture(graph, runtime).added == std::vector<std::string>{"y", "z"});
  runtime.lacking = "has no float32";
  const peer::CapturePlan none = peer::plan_capture(graph, runtime);
  CHECK(none.added.empty());
  CHECK(none.hidden == 2);
  CHECK(none.hidden_why == "y: has no float32");
}

TEST_CASE("AbsentRuntime_SaysWhyWhateverIsAsked") {
  const peer::AbsentRuntime absent("not in this build");
  CHECK(absent.available().reason == "not in this build");
  CHECK(absent.create({}).error().message == "not in this build");
}

}  // namespace driftscope::test::graph_json_test
