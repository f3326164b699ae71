// Each check of a model on a handmade context: what it finds, and that it is silent where nothing is wrong.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/base/half.hpp"
#include "core/deploy/deploy_check.hpp"
#include "core/deploy/graph_memory.hpp"
#include "core/eval/infer_shapes.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::deploy_model_checks_test {
namespace {

/// Runs nothing, and lacks one operator.
class PickyEngine final : public Engine {
 public:
  explicit PickyEngine(std::string lacks, std::string feature = "") : lacks_(std::move(lacks)) {
    info_.name = "picky";
    info_.browser_feature = std::move(feature);
  }
  [[nodiscard]] const EngineInfo& info() const override { return info_; }
  [[nodiscard]] Availability available() const override { return {}; }
  [[nodiscard]] Availability supports(const Graph& /*graph*/, const Node& node) const override {
    if (node.op_type != lacks_) return {};
    return {false, fmt::format("node '{}': no kernel", node.name)};
  }

 protected:
  [[nodiscard]] Result<std::unique_ptr<Session>> make_session(
      std::shared_ptr<const Graph> /*graph*/, const EngineOptions& /*options*/) const override {
    return internal_error("it runs nothing");
  }

 private:
  std::string lacks_;
  EngineInfo info_;
};

DeployModel model_of(const ModelBuilder& builder) {
  auto graph = infer_shapes(built(builder));
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  DeployModel model{.name = "net.onnx", .graph = *std::move(graph)};
  auto sizes = find_sizes(model.graph, "net.onnx");
  if (sizes.ok())
    model.sizes = *std::move(sizes);
  else
    model.no_sizes = sizes.error().message;
  model.preprocess_name = "net.preprocess.json";
  return model;
}

std::vector<DeployFinding> found(std::string_view check, const DeployContext& context) {
  const DeployCheck* const one = deploy_check_table().find(check);
  REQUIRE(one != nullptr);
  return one->find(context);
}

/// In Chrome, on the engine.
DeployContext context_of(const DeployModel& model, const Engine& engine) {
  DeployContext context;
  context.model = &model;
  context.targets = {{.name = "chrome/picky", .host = "chrome", .engine = &engine}};
  return context;
}

bool says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

ModelBuilder relus(const std::vector<Dim>& dims) {
  return ModelBuilder()
      .input("x", DType::float32, dims)
      .node("Relu", {"x"}, {"a"})
      .named("first")
      .node("Relu", {"a"}, {"b"})
      .named("second")
      .output("b");
}

TEST_CASE("DeployCheck_Operators_GroupedWithFirstNodeCountAndTargets") {
  const DeployModel model = model_of(relus({1, 4}));
  const PickyEngine lacks("Relu");
  const PickyEngine has("Conv");
  DeployContext context = context_of(model, lacks);
  context.targets.push_back({.name = "firefox/picky", .host = "firefox", .engine = &lacks});
  context.targets.push_back({.name = "pc/other", .host = "pc", .engine = &has});
  const auto findings = found("operators", context);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == DeploySeverity::error);
  CHECK(findings[0].where == "first");
  CHECK(findings[0].count == 2);
  CHECK(findings[0].targets == std::vector<std::string>{"chrome/picky", "firefox/picky"});
  CHECK(says(findings[0].shows, "Relu (opset 21)"));
  CHECK(findings[0].why == "no kernel");
  CHECK(found("operators", context_of(model, has)).empty());
}

TEST_CASE("DeployCheck_Operators_InsideIfAndOpaqueOnes") {
  const std::string body =
      ModelBuilder("body").node("Relu", {"x"}, {"y"}).named("inner").output("y").graph_message();
  const std::string other = ModelBuilder("other").node("Neg", {"x"}, {"z"}).output("z").graph_message();
  const DeployModel model = model_of(ModelBuilder()
                                         .input("x", DType::float32, {1, 4})
                                         .input("c", DType::boolean, {})
                                         .node("If", {"c"}, {"out"})
                                         .named("branch")
                                         .graph_attribute("then_branch", body)
                                         .graph_attribute("else_branch", other)
                                         .opset("com.acme", 1)
                                         .node("Magic", {"x"}, {"m"}, {}, "com.acme")
                                         .named("magic")
                                         .output("out")
                                         .output("m"));
  const PickyEngine lacks("Relu");
  const auto findings = found("operators", context_of(model, lacks));
  REQUIRE(findings.size() == 2);
  const bool inner =
      findings[0].where == "branch[then_branch]/inner" || findings[1].where == "branch[then_branch]/inner";
  CHECK(inner);
  CHECK(std::ranges::any_of(findings, [](const auto& f) { return says(f.shows, "com.acme.Magic"); }));
}

TEST_CASE("DeployCheck_Operators_RefusalOfARuntimeIsAnError") {
  const DeployModel model = model_of(relus({1, 4}));
  const PickyEngine has("Conv");
  DeployContext context = context_of(model, has);
  context.targets[0].refusal = "Opset 99 is under development";
  const auto findings = found("operators", context);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].why == "Opset 99 is under development");
}

TEST_CASE("DeployCheck_DynamicShapes_NamesSymbolsAndTargetsWithFixedSizes") {
  const DeployModel model = model_of(relus({"batch", 4}));
  const PickyEngine engine("Conv");
  const auto open = found("dynamic_shapes", context_of(model, engine));
  REQUIRE(open.size() == 1);
  CHECK(open[0].severity == DeploySeverity::note);
  CHECK(says(open[0].why, "batch of x (1 was taken)"));
  const PickyEngine webnn("Conv", "webnn");
  const auto fixed = found("dynamic_shapes", context_of(model, webnn));
  REQUIRE(fixed.size() == 2);
  CHECK(fixed[1].severity == DeploySeverity::warning);
  CHECK(fixed[1].targets == std::vector<std::string>{"chrome/picky"});
  const DeployModel fixed_model = model_of(relus({1, 4}));
  CHECK(found("dynamic_shapes", context_of(fixed_model, webnn)).empty());
}

TEST_CASE("DeployCheck_DynamicShapes_SizesThatDependOnData") {
  const DeployModel model = model_of(ModelBuilder()
                                         .input("x", DType::float32, {3, 4})
                                         .node("NonZero", {"x"}, {"places"})
                                         .named("where")
                                         .node("Neg", {"places"}, {"y"})
                                         .output("y"));
  const PickyEngine engine("Conv");
  const auto findings = found("dynamic_shapes", context_of(model, engine));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].where == "where (NonZero)");
  CHECK(findings[0].count == 1);  // the first that makes them, not those that pass them on
  const PickyEngine webnn("Conv", "webnn");
  CHECK(found("dynamic_shapes", context_of(model, webnn))[0].severity == DeploySeverity::error);
}

TEST_CASE("DeployCheck_DynamicShapes_NoSizesFit") {
  DeployModel model = model_of(relus({"time", 4}));
  model.sizes.reset();
  model.no_sizes = "no size fits";
  const PickyEngine engine("Conv");
  const auto findings = found("dynamic_shapes", context_of(model, engine));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == DeploySeverity::error);
  CHECK(findings[0].why == "no size fits");
}

constexpr std::string_view picture = R"({"format": "driftscope-preprocess-1", "layout": "NCHW", "input": "x",
 "channels": 3, "height": 8, "width": 6, "channel_order": "RGB", "scale": 0.003921569,
 "mean": [0, 0, 0], "std": [1, 1, 1], "labels": []})";

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result(text);
  const std::size_t at = result.find(from);
  REQUIRE(at != std::string::npos);
  return result.replace(at, from.size(), to);
}

std::vector<DeployFinding> described(const std::vector<Dim>& dims, const std::string& json) {
  DeployModel model = model_of(relus(dims));
  model.preprocess_json = json;
  DeployContext context;
  context.model = &model;
  return found("preprocessing", context);
}

TEST_CASE("DeployCheck_Preprocessing_FitsOrSaysWhatDoesNot") {
  const std::string good(picture);
  const auto fits = described({1, 3, 8, 6}, good);
  REQUIRE_MESSAGE(fits.empty(), fits[0].shows << ": " << fits[0].why);
  CHECK(described({"N", 3, "h", "w"}, good).empty());
  const auto one = [](const std::vector<DeployFinding>& findings) {
    REQUIRE(findings.size() == 1);
    return findings[0];
  };
  CHECK(says(one(described({1, 8, 6, 3}, good)).fix, "\"layout\" to \"NHWC\""));
  CHECK(says(one(described({1, 1, 8, 6}, good)).why, "takes 1 channels, the description makes 3"));
  CHECK(says(one(described({1, 3, 9, 6}, good)).why, "another size"));
  CHECK(says(one(described({1, 3}, good)).why, "four axes"));
  CHECK(says(one(described({1, 3, 8, 6}, replaced(good, "\"input\": \"x\"", "\"input\": \"y\""))).shows,
             "'y'"));
  CHECK(says(one(described({1, 3, 8, 6}, replaced(good, "0.003921569", "1"))).shows, "from 0 to 255"));
  CHECK(says(one(described({1, 3, 8, 6}, replaced(good, "[1, 1, 1]", "[0.001, 1, 1]"))).shows, "1000"));
  const std::string half = replaced(good, "\"labels\"", "\"dtype\": \"float16\", \"labels\"");
  CHECK(says(one(described({1, 3, 8, 6}, half)).shows, "makes float16, the input 'x' takes float32"));
  CHECK(one(described({1, 3, 8, 6}, "{")).severity == DeploySeverity::error);
  CHECK(says(one(described({1, 3, 8, 6}, "")).shows, "cannot be read"));
}

TEST_CASE("DeployCheck_Preprocessing_NoDescriptionOfAPictureIsANote") {
  const DeployModel pictures = model_of(relus({1, 3, 8, 6}));
  DeployContext context;
  context.model = &pictures;
  const auto findings = found("preprocessing", context);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == DeploySeverity::note);
  const DeployModel rows = model_of(relus({1, 8}));
  context.model = &rows;
  CHECK(found("preprocessing", context).empty());
}

TEST_CASE("GraphMemory_PeakIsWhatLivesTogether") {
  // x 16 bytes throughout; a 16 from 0 to 2, b 16 from 1 to 2, c (the output) 16.
  const DeployModel model = model_of(ModelBuilder()
                                         .input("x", DType::float32, {4})
                                         .initializer("w", tensor<float>({2}, {1, 2}))
                                         .node("Relu", {"x"}, {"a"})
                                         .node("Neg", {"a"}, {"b"})
                                         .node("Add", {"a", "b"}, {"c"})
                                         .named("sum")
                                         .output("c"));
  const GraphMemory memory = graph_memory(model.best_graph());
  CHECK(memory.peak_bytes == 64);
  CHECK(memory.peak_node == "sum");
  CHECK(memory.constant_bytes == 8);
  CHECK(memory.unknown_values == 0);
  // Of a chain an inner value ends with its reader: at the last node x, b and c are alive, and a is not.
  const DeployModel chain = model_of(ModelBuilder()
                                         .input("x", DType::float32, {4})
                                         .node("Relu", {"x"}, {"a"})
                                         .node("Relu", {"a"}, {"b"})
                                         .node("Relu", {"b"}, {"c"})
                                         .output("c"));
  CHECK(graph_memory(chain.best_graph()).peak_bytes == 48);
}

TEST_CASE("DeployCheck_Memory_AgainstALimitOfATab") {
  const PickyEngine engine("Conv");
  const std::int64_t side = 16384;  // 1 GiB a value
  const DeployModel small = model_of(relus({1, 4}));
  CHECK(found("memory", context_of(small, engine)).empty());
  const DeployModel large = model_of(relus({side, side}));
  const auto warned = found("memory", context_of(large, engine));
  REQUIRE(warned.size() == 1);
  CHECK(warned[0].severity == DeploySeverity::warning);
  const DeployModel huge = model_of(relus({2, side, side}));
  const auto refused = found("memory", context_of(huge, engine));
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].severity == DeploySeverity::error);
  DeployContext on_pc = context_of(huge, engine);
  on_pc.targets[0].host = "pc";
  CHECK(found("memory", on_pc).empty());
  DeployModel heavy = model_of(relus({1, 4}));
  heavy.file_bytes = (std::int64_t{1536} << 20) + 1;
  CHECK(says(found("memory", context_of(heavy, engine)).at(0).shows, "more than a tab can load"));
}

TEST_CASE("DeployCheck_Download_AtTheGivenRate") {
  const PickyEngine engine("Conv");
  DeployModel model = model_of(relus({1, 4}));
  model.file_bytes = 12'500'000;  // 10 s at 10 Mbit/s
  DeployContext context = context_of(model, engine);
  CHECK(found("download", context).empty());
  context.limits.megabits_per_second = 5;
  const auto findings = found("download", context);
  REQUIRE(findings.size() == 1);
  CHECK(says(findings[0].shows, "20 s for the model at 5 Mbit/s"));
}

TEST_CASE("DeployCheck_ExternalData_EachMissingFile") {
  const PickyEngine engine("Conv");
  DeployModel model = model_of(relus({1, 4}));
  model.external = {{"there.bin", ""}, {"gone.bin", "no such file"}};
  const auto findings = found("external_data", context_of(model, engine));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].where == "gone.bin");
}

Tensor halves(const std::vector<double>& values) {
  std::vector<std::uint16_t> bits;
  for (const double x : values) bits.push_back(narrow(float16_format, x));
  auto made = Tensor::from_bytes(DType::float16, {static_cast<std::int64_t>(bits.size())},
                                 std::as_bytes(std::span(bits)));
  REQUIRE(made.ok());
  return *std::move(made);
}

ModelBuilder with_constants(const Tensor& half, float single) {
  return ModelBuilder()
      .input("x", DType::float16, {2})
      .initializer("h", half)
      .initializer("s", tensor<float>({1}, {single}))
      .node("Cast", {"s"}, {"t"}, {integer("to", 10)})
      .node("Add", {"x", "h"}, {"y"})
      .node("Add", {"y", "t"}, {"z"})
      .output("z");
}

TEST_CASE("DeployCheck_Float16Range_InfiniteNanAndCasts") {
  const PickyEngine engine("Conv");
  const auto check = [&](const ModelBuilder& builder) {
    const DeployModel model = model_of(builder);
    return found("float16_range", context_of(model, engine));
  };
  CHECK(check(with_constants(halves({1, -65504}), 65504.0f)).empty());
  const auto infinite = check(with_constants(halves({1, 1e6}), 1.0f));
  REQUIRE(infinite.size() == 1);
  CHECK(infinite[0].where == "h");
  CHECK(infinite[0].severity == DeploySeverity::warning);
  const auto nan = check(with_constants(halves({1, std::numeric_limits<double>::quiet_NaN()}), 1.0f));
  REQUIRE(nan.size() == 1);
  CHECK(nan[0].severity == DeploySeverity::error);
  const auto cast = check(with_constants(halves({1, 2}), -1e9f));
  REQUIRE(cast.size() == 1);
  CHECK(cast[0].where == "s");
  CHECK(says(cast[0].why, "-1e+09"));
}

TEST_CASE("DeployCheck_InputTypes_ThatJavaScriptPassesOtherwise") {
  const PickyEngine engine("Conv");
  const auto severity = [&](DType dtype) -> std::optional<DeploySeverity> {
    const DeployModel model =
        model_of(ModelBuilder().input("x", dtype, {2}).node("Identity", {"x"}, {"y"}).output("y"));
    const auto findings = found("input_types", context_of(model, engine));
    return findings.empty() ? std::nullopt : std::optional(findings[0].severity);
  };
  CHECK(!severity(DType::float32));
  CHECK(severity(DType::int64) == DeploySeverity::note);
  CHECK(severity(DType::float16) == DeploySeverity::note);
  CHECK(severity(DType::float64) == DeploySeverity::warning);
}

TEST_CASE("DeployCheck_All_ErrorsFirstAndWithTheirCheck") {
  const PickyEngine engine("Relu");
  DeployModel model = model_of(relus({"batch", 3, 8, 6}));
  DeployContext context = context_of(model, engine);
  const auto findings = check_deployment(context);
  REQUIRE(findings.size() >= 3);
  CHECK(findings[0].check == "operators");
  CHECK(std::ranges::is_sorted(findings, {}, &DeployFinding::severity));
  const std::string text = deployment_text(findings);
  CHECK(says(text, "does not work (1)"));
  CHECK(says(text, "where: first and 1 more"));
  CHECK(deployment_text({}) == "deployment: no findings\n");
}

}  // namespace
}  // namespace driftscope::test::deploy_model_checks_test
