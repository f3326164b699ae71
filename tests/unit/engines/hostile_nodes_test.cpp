// Small graphs that once made an engine read or write beyond its memory, or divide by 0: each runs or is
// refused.
#include <doctest/doctest.h>

#include <functional>

#include "core/runtime/bind_inputs.hpp"
#include "core/runtime/engine.hpp"
#include "core/trace/record.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::hostile_nodes_test {
namespace {

template <class T>
Tensor filled(Shape shape, T value) {
  const auto count = static_cast<std::size_t>(element_count(shape));
  return tensor<T>(std::move(shape), std::vector<T>(count, value));
}

/// On every engine, captured and fused. Errors are fine; what runs is not a fault.
void run_everywhere(const ModelBuilder& model, const NamedInputs& inputs) {
  const auto read = read_onnx(model.bytes());
  if (!read.ok()) return;
  const auto graph = build_graph(*read);
  if (!graph.ok()) return;
  const auto bound = bind_inputs(*graph, inputs);
  if (!bound.ok()) return;
  ThreadPool threads(1);
  for (const char* name : {"strict", "fast", "reference"})
    for (const Capture capture : {Capture::all, Capture::outputs}) {
      CAPTURE(name);
      const auto engine = find_engine(name);
      REQUIRE(engine.ok());
      EngineOptions options;
      options.threads = 1;
      options.fuse = capture == Capture::outputs;
      const auto session = (*engine)->prepare(bound->graph, options);
      if (!session.ok()) {
        CHECK_MESSAGE(session.error().kind != ErrorKind::internal, session.error().message);
        continue;
      }
      const auto trace = record(bound->graph, **session, bound->inputs, {.capture = capture});
      if (!trace.ok()) {
        CHECK_MESSAGE(trace.error().kind != ErrorKind::internal, trace.error().message);
        continue;
      }
      const auto verified = verify(*bound->graph, "", *trace, threads);
      if (verified.ok()) CHECK(verified->verdict != Verdict::fault);
    }
}

std::string branch(const std::string& name, const std::function<void(ModelBuilder&)>& build) {
  ModelBuilder body(name);
  build(body);
  return body.graph_message();
}

}  // namespace

TEST_CASE("HostileNodes_OutputThatIsLeftOut_IsRefused") {
  for (const char* op : {"Identity", "Shape", "Relu", "Erf", "Abs"}) {
    CAPTURE(op);
    ModelBuilder model;
    model.opset(13).input("x", DType::float32, {4});
    model.node(op, {"x"}, {""}).node("Neg", {"x"}, {"y"}).output("y");
    run_everywhere(model, {{"x", filled<float>({4}, 0.5f)}});
    ModelBuilder constant;
    constant.opset(13).input("x", DType::float32, {4}).initializer("c", filled<float>({4}, 0.5f));
    constant.node(op, {"c"}, {""}).node("Neg", {"x"}, {"y"}).output("y");
    run_everywhere(constant, {{"x", filled<float>({4}, 0.5f)}});
  }
  ModelBuilder quantized;
  quantized.opset(13).input("x", DType::float32, {4}).initializer("s", filled<float>({}, 0.5f));
  quantized.node("QuantizeLinear", {"x", "s"}, {""}).node("Neg", {"x"}, {"y"}).output("y");
  run_everywhere(quantized, {{"x", filled<float>({4}, 0.5f)}});
}

TEST_CASE("HostileNodes_ManyAxes_AreRefused") {
  ModelBuilder model;
  model.opset(13).input("x", DType::float32, {1}).initializer("shape", filled<std::int64_t>({40}, 1));
  model.node("Reshape", {"x", "shape"}, {"r"});
  model.node("Einsum", {"r"}, {"y"}, {text("equation", "...->...")}).output("y");
  run_everywhere(model, {{"x", filled<float>({1}, 0.5f)}});
}

TEST_CASE("HostileNodes_IndicesOfEmptyWindows_AreNone") {
  ModelBuilder model;
  model.opset(13).input("x", DType::float32, {1, 1, 0});
  model.node("MaxPool", {"x"}, {"y", "i"},
             {ints("kernel_shape", {1}), ints("pads", {1, 1}), integer("storage_order", 1)});
  model.output("y").output("i");
  run_everywhere(model, {{"x", filled<float>({1, 1, 0}, 0.0f)}});
}

TEST_CASE("HostileNodes_ProductOfNothingInBatches_IsZero") {
  ModelBuilder model;
  model.opset(13).input("a", DType::uint8, {2, 1, 0}).input("b", DType::uint8, {2, 0, 1});
  model.node("MatMulInteger", {"a", "b"}, {"y"}).output("y");
  run_everywhere(model,
                 {{"a", filled<std::uint8_t>({2, 1, 0}, 0)}, {"b", filled<std::uint8_t>({2, 0, 1}, 0)}});
}

TEST_CASE("HostileNodes_ScalesWhoseNumberDependsOnData_AreCounted") {
  ModelBuilder model;
  model.opset(13).input("x", DType::uint8, {1, 1, 4, 4}).input("c", DType::boolean, {64});
  model.initializer("all", filled<float>({64}, 0.5f)).initializer("s", filled<float>({}, 0.5f));
  model.initializer("z", filled<std::uint8_t>({}, 0));
  model.initializer("w", filled<std::uint8_t>({64, 1, 1, 1}, 3));
  model.node("Compress", {"all", "c"}, {"scales"});
  model.node("QLinearConv", {"x", "s", "z", "w", "scales", "z", "s", "z"}, {"y"}).output("y");
  Tensor half = *Tensor::make(DType::boolean, {64});
  for (std::size_t i = 0; i < 64; i += 2) half.mutable_values<std::uint8_t>()[i] = 1;
  run_everywhere(model, {{"x", filled<std::uint8_t>({1, 1, 4, 4}, 7)}, {"c", half}});
}

TEST_CASE("HostileNodes_DeclaredTypeAndShapeOfABranch_AreNotBelieved") {
  Tensor condition = *Tensor::make(DType::boolean, {});
  condition.mutable_values<std::uint8_t>()[0] = 1;
  {
    ModelBuilder model;
    model.opset(13).input("c", DType::boolean, {}).input("x", DType::float32, {1000});
    model.node("If", {"c"}, {"y"});
    model.graph_attribute("then_branch", branch("t", [](ModelBuilder& b) {
                            b.node("Cast", {"x"}, {"t"}, {integer("to", 2)}).output("t");
                          }));
    model.graph_attribute("else_branch",
                          branch("e", [](ModelBuilder& b) { b.node("Identity", {"x"}, {"e"}).output("e"); }));
    model.value_info("y", DType::float32, {1000});
    model.node("Relu", {"y"}, {"z"}).output("z");
    run_everywhere(model, {{"c", condition}, {"x", filled<float>({1000}, 0.5f)}});
  }
  ModelBuilder model;
  model.opset(13).input("c", DType::boolean, {}).input("x", DType::float32, {1000});
  model.input("k", DType::boolean, {1000}).initializer("one", filled<float>({1000}, 1.0f));
  model.node("If", {"c"}, {"y"});
  model.graph_attribute("then_branch", branch("t", [](ModelBuilder& b) {
                          b.node("Compress", {"x", "k"}, {"t"}).output("t", DType::float32, {1000});
                        }));
  model.graph_attribute("else_branch",
                        branch("e", [](ModelBuilder& b) { b.node("Identity", {"x"}, {"e"}).output("e"); }));
  model.node("Add", {"y", "one"}, {"z"}).output("z");
  Tensor few = *Tensor::make(DType::boolean, {1000});
  few.mutable_values<std::uint8_t>()[0] = 1;
  run_everywhere(model, {{"c", condition}, {"x", filled<float>({1000}, 0.5f)}, {"k", few}});
}

// Its shapes change from step to step: no kernel may be prepared for those of the first.
TEST_CASE("HostileNodes_ProductInALoopWhoseShapeGrows_HasItsWeights") {
  ModelBuilder model;
  model.opset(13).input("x", DType::float32, {1, 2}).input("n", DType::int64, {});
  model.initializer("w", tensor<float>({2, 2}, {1, 2, 3, 4}))
      .initializer("more", filled<float>({1, 2}, 0.5f));
  model.node("Loop", {"n", "", "x"}, {"y"});
  model.graph_attribute("body", branch("b", [](ModelBuilder& b) {
                          b.input("i", DType::int64, {}).input("go", DType::boolean, {});
                          b.input("v", DType::float32, {1, 2});
                          b.node("MatMul", {"v", "w"}, {"p"});
                          b.node("Concat", {"p", "more"}, {"next"}, {integer("axis", 0)});
                          b.node("Identity", {"go"}, {"on"});
                          b.output("on").output("next");
                        }));
  model.output("y");
  run_everywhere(model, {{"x", filled<float>({1, 2}, 0.5f)}, {"n", tensor<std::int64_t>({}, {3})}});
}

TEST_CASE("HostileNodes_GroupsThatDoNotDivide_AreRefusedAlsoWhereTheRankIsUnknown") {
  for (const std::int64_t group : {3, 0}) {
    CAPTURE(group);
    ModelBuilder model;
    model.opset(13).input("x", DType::float32, {1}).input("shape", DType::int64, {4});
    const std::int64_t channels = 2 * group;
    model.initializer("w", filled<float>({2, 2, 1, 1}, 0.5f))
        .initializer("n", filled<float>({channels}, 1.0f));
    model.node("Expand", {"x", "shape"}, {"wide"});
    model.node("ConvTranspose", {"wide", "w"}, {"t"}, {integer("group", group)});
    model.node("BatchNormalization", {"t", "n", "n", "n", "n"}, {"y"}).output("y");
    run_everywhere(model,
                   {{"x", filled<float>({1}, 0.5f)}, {"shape", tensor<std::int64_t>({4}, {1, 2, 2, 2})}});
  }
}

TEST_CASE("HostileNodes_ValuesBeyondAllMemory_AreRefused") {
  ModelBuilder model;
  model.opset(13).input("x", DType::float32, {1, 1});
  model.initializer("pads", tensor<std::int64_t>({4}, {0, 0, 1073741823, 536870911}));
  model.node("Pad", {"x", "pads"}, {"p"}).node("Relu", {"p"}, {"y"}).output("y");
  run_everywhere(model, {{"x", filled<float>({1, 1}, 0.5f)}});
}

TEST_CASE("HostileNodes_WindowsOfHugeSize_Run") {
  ModelBuilder many;
  many.opset(13).input("x", DType::float32, {1, 1, 1, 1});
  many.node("MaxPool", {"x"}, {"y"},
            {ints("kernel_shape", {1073774592, 2147418114}), text("auto_pad", "SAME_UPPER")});
  run_everywhere(many.output("y"), {{"x", filled<float>({1, 1, 1, 1}, 0.5f)}});
  ModelBuilder mean;
  mean.opset(13).input("x", DType::float32, {1, 4, 1, 1});
  const std::int64_t pad = std::int64_t{1} << 30;
  mean.node("AveragePool", {"x"}, {"y"},
            {ints("kernel_shape", {2 * pad, 2 * pad}), ints("pads", {pad, pad, pad, pad}),
             integer("count_include_pad", 1)});
  run_everywhere(mean.output("y"), {{"x", filled<float>({1, 4, 1, 1}, 0.5f)}});
}

TEST_CASE("HostileNodes_ScalesOfABiasThatAreTooFew_AreNotReadOn") {
  ModelBuilder model;
  model.opset(13).input("x", DType::float32, {2, 3});
  model.initializer("tiny", filled<float>({}, 1e-30f)).initializer("none", filled<std::int8_t>({}, 0));
  model.initializer("w", filled<std::int8_t>({3, 64}, 1)).initializer("c", filled<std::int32_t>({2, 1}, 5));
  model.initializer("two", filled<float>({2}, 0.0f));
  model.node("QuantizeLinear", {"x", "tiny", "none"}, {"xq"});
  model.node("DequantizeLinear", {"xq", "tiny", "none"}, {"xr"});
  model.node("DequantizeLinear", {"w", "tiny"}, {"wr"});
  model.node("DequantizeLinear", {"c", "two"}, {"cr"}, {integer("axis", 0)});
  model.node("Gemm", {"xr", "wr", "cr"}, {"g"});
  model.node("QuantizeLinear", {"g", "tiny", "none"}, {"yq"});
  model.node("DequantizeLinear", {"yq", "tiny", "none"}, {"y"}).output("y");
  run_everywhere(model, {{"x", filled<float>({2, 3}, 0.5f)}});
}

}  // namespace driftscope::test::hostile_nodes_test
