// The engine ort on the PC, through the session service, as the command line drives it.
#include <doctest/doctest.h>

#include <algorithm>
#include <protozero/pbf_writer.hpp>

#include "core/base/rng.hpp"
#include "core/eval/infer_shapes.hpp"
#include "core/graph/build.hpp"
#include "core/platform/platform.hpp"
#include "core/results/run_times.hpp"
#include "core/verify/verify.hpp"
#include "native/host/inputs.hpp"
#include "native/host/target_runner.hpp"
#include "unit/support/model_builder.hpp"

namespace driftscope::test::ort_test {
namespace {

Target target(const std::string& options = "") {
  const auto parsed = parse_target("pc/ort" + (options.empty() ? "" : ":" + options));
  REQUIRE(parsed.ok());
  return *parsed;
}

ModelFile shipped(const std::string& name) {
  auto file = load_model_file(std::string(DRIFTSCOPE_SOURCE_DIR) + "/assets/models/" + name);
  REQUIRE_MESSAGE(file.ok(), file.error().message);
  return *std::move(file);
}

ModelFile made(std::vector<std::byte> bytes, std::vector<JobAttachment> files = {},
               const ExternalData& external = no_external_data()) {
  const auto model = read_onnx(bytes, external);
  REQUIRE_MESSAGE(model.ok(), model.error().message);
  auto graph = build_graph(*model);
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  auto inferred = infer_shapes(*std::move(graph));
  REQUIRE_MESSAGE(inferred.ok(), inferred.error().message);
  return {.path = "made.onnx",
          .name = "made.onnx",
          .bytes = std::make_shared<const Bytes>(std::move(bytes)),
          .attachments = std::move(files),
          .sha256 = model->sha256,
          .graph = *std::move(inferred)};
}

Result<Trace> run(const ModelFile& model, const Target& where, Capture capture = Capture::all,
                  int repeat = 1) {
  const auto inputs = seeded_inputs(model.graph, 42);
  REQUIRE(inputs.ok());
  RunRequest request;
  request.model = &model;
  request.inputs = *inputs;
  request.plan.capture = capture_message(capture);
  request.plan.repeat = repeat;
  return TargetRunner({}).run(where, request, [](auto, auto, auto) {});
}

Verification verified(const ModelFile& model, const Trace& trace) {
  ThreadPool threads(1);
  const auto verification = verify(model.graph, model.sha256, trace, threads);
  REQUIRE_MESSAGE(verification.ok(), verification.error().message);
  return *verification;
}

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

// Its numbers of these types are others than ONNX's, in some releases only for what comes out.
TEST_CASE("Ort_ValuesOfTwoBitsAndOfPowers_KeepTheirType") {
  for (const DType dtype : {DType::uint2, DType::int2, DType::float8e8m0}) {
    CAPTURE(dtype_name(dtype));
    const auto to = [](DType type) { return integer("to", static_cast<std::int64_t>(type)); };
    const ModelFile model = made(ModelBuilder()
                                     .opset(25)
                                     .ir_version(11)
                                     .input("x", dtype, {4})
                                     .node("Cast", {"x"}, {"y"}, {to(DType::float32)})
                                     .node("Cast", {"y"}, {"z"}, {to(dtype)})
                                     .output("y")
                                     .output("z")
                                     .bytes());
    // 0 1 2 3, 0 1 -2 -1, or powers of two from 1 on.
    const bool powers = dtype == DType::float8e8m0;
    const std::vector<std::uint8_t> bytes =
        powers ? std::vector<std::uint8_t>{127, 128, 129, 130} : std::vector<std::uint8_t>{0xe4};
    const auto x = Tensor::from_bytes(dtype, {4}, std::as_bytes(std::span(bytes)));
    REQUIRE(x.ok());
    RunRequest request;
    request.model = &model;
    request.inputs = {{"x", *x}};
    request.plan.capture = capture_message(Capture::all);
    const auto trace = TargetRunner({}).run(target("opt=none"), request, [](auto, auto, auto) {});
    REQUIRE_MESSAGE(trace.ok(), trace.error().message);
    REQUIRE(trace->find("z") != nullptr);
    CHECK(trace->find("z")->dtype() == dtype);
    CHECK(std::ranges::equal(trace->find("z")->bytes(), x->bytes()));
    CHECK(trace->find("y")->values<float>()[3] == (powers ? 8 : dtype == DType::int2 ? -1 : 3));
  }
}

// Without VNNI ONNX Runtime adds 8-bit products in pairs of 16 bits, which saturate (onnxruntime#12088),
// unless this option has it take unsigned weights.
constexpr const char* precise = "session.x64quantprecision=1";

// The operator of the first node whose bits differ from those of the precise run, or "".
std::string differs_at(const ModelFile& model, const Trace& trace, const Trace& exact) {
  for (const Node& node : model.graph.nodes)
    for (const ValueId id : node.outputs) {
      if (id == no_value) continue;
      const std::string name = model.graph.value_name(id);
      if (!std::ranges::equal(trace.find(name)->bytes(), exact.find(name)->bytes())) return node.op_type;
    }
  return "";
}

TEST_CASE("Ort_EveryNodesValueIsCapturedAndNoneIsAFault") {
  for (const char* name : {"lenet5.onnx", "gru.onnx"}) {
    INFO(std::string(name));
    const ModelFile model = shipped(name);
    for (const char* options : {"", "opt=none,threads=1"}) {
      const auto trace = run(model, target(options), Capture::all, 2);
      REQUIRE_MESSAGE(trace.ok(), trace.error().message);
      for (const Node& node : model.graph.nodes)
        for (const ValueId id : node.outputs)
          if (id != no_value)
            CHECK_MESSAGE(trace->find(model.graph.value_name(id)) != nullptr, model.graph.value_name(id));
      CHECK(verified(model, *trace).verdict == Verdict::rounding);
      CHECK(run_times_of(*trace).value_or(RunTimes()).watched_ns.size() == 2);
      CHECK(trace->nodes.back().time_ns.empty());  // it reports no times of nodes
    }
  }
}

TEST_CASE("Ort_QuantizedProducts_AreAFaultOnlyWhereTheySaturate") {
  const ModelFile model = shipped("lenet5-int8.onnx");
  const auto exact = run(model, target(precise));
  REQUIRE_MESSAGE(exact.ok(), exact.error().message);
  CHECK(holds(exact->run, R"("session.x64quantprecision":"1")"));
  CHECK(verified(model, *exact).verdict == Verdict::rounding);
  for (const char* options : {"", "opt=none,threads=1"}) {
    const auto trace = run(model, target(options));
    REQUIRE_MESSAGE(trace.ok(), trace.error().message);
    const std::string op = differs_at(model, *trace, *exact);
    INFO("differs from the precise run at: " << op);
    CHECK((op.empty() || op == "QLinearConv" || op == "QLinearMatMul" || op == "MatMulInteger"));
    CHECK(verified(model, *trace).verdict == (op.empty() ? Verdict::rounding : Verdict::fault));
  }
}

// From opt=basic up the float32 bias between QuantizeLinear and DequantizeLinear becomes int32.
TEST_CASE("Ort_QuantizedBias_IsReportedAsWhatItIs") {
  Rng rng(9);
  std::vector<std::int8_t> weights(4 * 8 * 9);
  for (auto& w : weights) w = static_cast<std::int8_t>(static_cast<int>(rng.below(127)) - 63);
  const ModelFile model =
      made(ModelBuilder()
               .opset(13)
               .input("x", DType::float32, {1, 8, 7, 7})
               .initializer("xs", tensor<float>({}, {0.0213f}))
               .initializer("xz", tensor<std::uint8_t>({}, {117}))
               .initializer("wq", tensor<std::int8_t>({4, 8, 3, 3}, weights))
               .initializer("ws", tensor<float>({}, {0.006f}))
               .initializer("wz", tensor<std::int8_t>({}, {0}))
               .initializer("b", tensor<float>({4}, {0.31234f, -0.1177f, 0.00031f, 1.7071f}))
               .initializer("ys", tensor<float>({}, {0.05f}))
               .initializer("yz", tensor<std::uint8_t>({}, {128}))
               .node("QuantizeLinear", {"x", "xs", "xz"}, {"xq"})
               .node("DequantizeLinear", {"xq", "xs", "xz"}, {"xd"})
               .node("DequantizeLinear", {"wq", "ws", "wz"}, {"wd"})
               .node("Conv", {"xd", "wd", "b"}, {"y"}, {ints("pads", {1, 1, 1, 1})})
               .node("QuantizeLinear", {"y", "ys", "yz"}, {"yq"})
               .node("DequantizeLinear", {"yq", "ys", "yz"}, {"z"})
               .output("z")
               .bytes());
  for (const char* options : {"opt=none", "opt=basic"}) {
    const auto trace = run(model, target(options));
    REQUIRE_MESSAGE(trace.ok(), trace.error().message);
    for (const LayerVerdict& layer : verified(model, *trace).layers) {
      if (layer.op != "Conv") continue;
      INFO(std::string(options) << ": " << reason_of(layer));
      CHECK(layer.verdict == Verdict::rounding);
      CHECK(holds(reason_of(layer), "a bias rounded to int32 steps") ==
            (std::string(options) == "opt=basic"));
    }
  }
}

TEST_CASE("Ort_RunSaysWhatRan") {
  const auto trace = run(shipped("lenet1.onnx"), target("opt=basic,threads=2"));
  REQUIRE_MESSAGE(trace.ok(), trace.error().message);
  CHECK(holds(trace->run, R"("engine":"ort")"));
  CHECK(holds(trace->run, R"("opt":"basic")"));
  CHECK(holds(trace->run, R"("version":"1.30.0")"));
  CHECK(holds(trace->run, R"("threads_real":2)"));
}

TEST_CASE("Ort_OutputsAlone_AddNothingToTheModel") {
  const ModelFile model = shipped("lenet5.onnx");
  const auto trace = run(model, target(), Capture::outputs);
  REQUIRE_MESSAGE(trace.ok(), trace.error().message);
  CHECK(trace->tensors.size() == 2);  // the input and the output
  CHECK_FALSE(holds(trace->run, "captured"));
}

TEST_CASE("Ort_FusedCapture_KeepsWhatIsLeftAndTheBitsOfAnUnwatchedRun") {
  for (const char* name : {"lenet5.onnx", "resnet20.onnx", "lenet5-int8.onnx", "transformer.onnx"}) {
    INFO(std::string(name));
    const ModelFile model = shipped(name);
    const auto fused = run(model, target("threads=1"), Capture::fused);
    REQUIRE_MESSAGE(fused.ok(), fused.error().message);
    const auto plain = run(model, target("threads=1"), Capture::outputs);
    REQUIRE_MESSAGE(plain.ok(), plain.error().message);
    CHECK(fused->tensors.size() > plain->tensors.size());
    CHECK(fused->tensors.size() < model.graph.nodes.size());
    CHECK(holds(fused->run, "left in the optimised model"));
    // Of QLinearConv the possible steps of its input are not carried on: what follows has no reference.
    const bool has_unknown_steps = std::string(name) == "lenet5-int8.onnx";
    if (has_unknown_steps)
      CHECK(verified(model, *fused).verdict == Verdict::unjudged);
    else
      CHECK(verified(model, *fused).verdict <= Verdict::rounding);
    for (const NamedTensor& output : plain->tensors) {
      INFO(output.name);
      const auto bytes = output.tensor.bytes();
      CHECK(std::ranges::equal(bytes, fused->find(output.name)->bytes()));
    }
  }
}

// Its tanh inside RNN is 2σ(2x) − 1, which has no correct digit for small numbers.
TEST_CASE("Ort_RnnOfSmallNumbers_IsNoFault") {
  std::vector<float> values;
  for (int i = 1; i <= 1000; ++i) values.push_back(1e-6f * static_cast<float>(i));
  const ModelFile model = made(ModelBuilder()
                                   .initializer("x", tensor<float>({1, 1000, 1}, values))
                                   .input("w", DType::float32, {1, 1, 1})
                                   .initializer("r", tensor<float>({1, 1, 1}, std::vector<float>{0.0f}))
                                   .node("RNN", {"x", "w", "r"}, {"y"}, {integer("hidden_size", 1)})
                                   .output("y")
                                   .bytes());
  const auto trace = run(model, target());
  REQUIRE_MESSAGE(trace.ok(), trace.error().message);
  CHECK(verified(model, *trace).verdict == Verdict::rounding);
}

// Its float16 nodes compute in float32 and pass that on: cancelling values were not rounded before.
TEST_CASE("Ort_Float16_IsComparedWithWhatNodesRead") {
  const ModelFile model = made(ModelBuilder()
                                   .input("x", DType::float16, {64})
                                   .node("Exp", {"x"}, {"e"})
                                   .node("Sigmoid", {"x"}, {"s"})
                                   .node("Mul", {"e", "s"}, {"m"})
                                   .node("Sub", {"e", "m"}, {"d"})
                                   .node("Sub", {"d", "s"}, {"y"})  // 0 exactly: e·(1 − s) is s
                                   .output("y")
                                   .bytes());
  const auto trace = run(model, target());
  REQUIRE_MESSAGE(trace.ok(), trace.error().message);
  const Verification verification = verified(model, *trace);
  CHECK(verification.layers.size() == 5);
  CHECK(verification.verdict <= Verdict::unjudged);  // the remaining y may be rounding alone
}

TEST_CASE("Ort_LstmWithClip_IsNoFault") {
  const ModelFile model =
      made(ModelBuilder()
               .input("x", DType::float32, {60, 3, 4})
               .input("w", DType::float32, {1, 20, 4})
               .input("r", DType::float32, {1, 20, 5})
               .node("LSTM", {"x", "w", "r"}, {"y"}, {integer("hidden_size", 5), real("clip", 0.4f)})
               .output("y")
               .bytes());
  const auto trace = run(model, target());
  REQUIRE_MESSAGE(trace.ok(), trace.error().message);
  CHECK(verified(model, *trace).verdict == Verdict::rounding);
}

TEST_CASE("Ort_ModelThatItRejects_IsAnErrorInItsWords") {
  // An IR version of the far future, which our reader accepts.
  const ModelFile model = made(ModelBuilder()
                                   .ir_version(99)
                                   .input("x", DType::float32, {2})
                                   .node("Relu", {"x"}, {"y"})
                                   .output("y", DType::float32, {2})
                                   .bytes());
  const auto trace = run(model, target());
  REQUIRE_FALSE(trace.ok());
  CHECK(trace.error().kind == ErrorKind::unsupported);
  CHECK(holds(trace.error().message, "ONNX Runtime 1.30.0 says: "));
  CHECK(holds(trace.error().message, "99"));
}

TEST_CASE("Ort_ExternalData_ReachesIt") {
  // TensorProto: dims 2, float32, name, data_location EXTERNAL, {"location": "w.bin"}.
  const std::string weights("\x08\x02\x10\x01\x42\x01w\x70\x01\x6a\x11\x0a\x08location\x12\x05w.bin");
  const auto file = std::make_shared<const Bytes>(bytes_of(std::string("\0\0\0\x40\0\0\x80\x40", 8)));
  const ExternalData external = [&](const std::string&, std::int64_t, std::int64_t) {
    return Result<ByteSource>(SharedBytes(file).source());
  };
  const ModelFile model = made(ModelBuilder()
                                   .input("x", DType::float32, {2})
                                   .graph_field(5, weights)
                                   .node("Mul", {"x", "w"}, {"y"})
                                   .output("y", DType::float32, {2})
                                   .bytes(),
                               {{"w.bin", file}}, external);
  const auto trace = run(model, target());
  REQUIRE_MESSAGE(trace.ok(), trace.error().message);
  const auto x = trace->find("x")->values<float>();
  const auto y = trace->find("y")->values<float>();
  CHECK(y[0] == 2 * x[0]);
  CHECK(y[1] == 4 * x[1]);
}

TEST_CASE("Ort_ValueInsideAModelsFunction_IsLeftOutWithAReason") {
  const std::string function = ModelBuilder("twice_relu")
                                   .node("Relu", {"a"}, {"b"})
                                   .node("Add", {"b", "b"}, {"c"})
                                   .function_message("mine", {"a"}, {"c"});
  const ModelFile model = made(ModelBuilder()
                                   .opset("mine", 1)
                                   .input("x", DType::float32, {2})
                                   .node("twice_relu", {"x"}, {"y"}, {}, "mine")
                                   .output("y", DType::float32, {2})
                                   .model_field(25, function)
                                   .bytes());
  const auto trace = run(model, target());
  REQUIRE_MESSAGE(trace.ok(), trace.error().message);
  CHECK(trace->tensors.size() == 2);
  CHECK(holds(trace->run, "1 values, the first: "));
  CHECK(verified(model, *trace).verdict <= Verdict::rounding);
}

// Operators that only the runtime knows: it runs them, and what is around them is judged.
TEST_CASE("Ort_OperatorsWithoutAReference_RunAndAreUnjudged") {
  ModelBuilder builder;
  builder.opset(17)
      .opset("com.microsoft", 1)
      .input("x", DType::float32, {2, 3})
      .initializer("w", tensor<float>({3, 4}, std::vector<float>(12, 0.3f)))
      .node("Relu", {"x"}, {"a"})
      .node("Trilu", {"a"}, {"b"}, {}, "com.microsoft")
      .node("MatMul", {"b", "w"}, {"y"})
      .output("y");
  const ModelFile model = made(builder.bytes());
  const auto trace = run(model, target());
  REQUIRE_MESSAGE(trace.ok(), trace.error().message);
  const Verification verification = verified(model, *trace);
  REQUIRE(verification.layers.size() == 3);
  CHECK(verification.layers[0].verdict == Verdict::identical);
  CHECK(verification.layers[1].verdict == Verdict::unjudged);
  CHECK(holds(reason_of(verification.layers[1]), "operator Trilu (domain com.microsoft"));
  CHECK(severity(verification.layers[2].verdict) <= severity(Verdict::rounding));
  const auto strict = parse_target("pc/strict");
  REQUIRE(strict.ok());
  const auto refused = run(model, *strict);
  REQUIRE(!refused.ok());
  CHECK(holds(refused.error().message, "com.microsoft.Trilu"));
}

/// As scikit-learn's converter writes a classifier: the probabilities leave as a sequence of maps.
ModelFile classifier(const Dim& rows) {
  std::string list;  // ValueInfoProto of a sequence
  protozero::pbf_writer info(list);
  info.add_string(1, "maps");
  {
    protozero::pbf_writer type(info, 2);
    protozero::pbf_writer sequence(type, 4);
    protozero::pbf_writer element(sequence, 1);
    protozero::pbf_writer map(element, 5);
    map.add_int32(1, 7);
    protozero::pbf_writer value(map, 2);
    protozero::pbf_writer tensor_type(value, 1);
    tensor_type.add_int32(1, 1);
  }
  ModelBuilder builder;
  builder.opset(15)
      .opset("ai.onnx.ml", 1)
      .input("x", DType::float32, {rows, 3})
      .node("LinearClassifier", {"x"}, {"label", "p"},
            {reals("coefficients", {1, 2, 3, -1, -2, 1}), reals("intercepts", {0, 0.1f}),
             ints("classlabels_ints", {0, 1}), text("post_transform", "SOFTMAX")},
            "ai.onnx.ml")
      .node("ZipMap", {"p"}, {"maps"}, {ints("classlabels_int64s", {0, 1})}, "ai.onnx.ml")
      .output("label", DType::int64, {rows})
      .graph_field(12, list);
  return made(builder.bytes());
}

TEST_CASE("Ort_OutputsThatAreNoTensors_AreLeftOutAndTheRestIsThere") {
  // Where a size is open, the graph that runs is another one than the graph that was read.
  for (const Dim& rows : {Dim(2), Dim("n")})
    for (const Capture capture : {Capture::all, Capture::outputs}) {
      const ModelFile model = classifier(rows);
      const auto trace = run(model, target(), capture);
      REQUIRE_MESSAGE(trace.ok(), trace.error().message);
      REQUIRE(trace->find("label") != nullptr);
      CHECK(trace->find("label")->dtype() == DType::int64);
      CHECK(trace->find("p") != nullptr);
      CHECK(trace->find("maps") == nullptr);
      CHECK(severity(verified(model, *trace).verdict) <= severity(Verdict::rounding));
    }
}

// What it warns of, or does not mind, is no reason to refuse a model either.
TEST_CASE("Ort_ModelsThatItRunsWithAWarning_RunOnStrictWithTheSameResult") {
  ModelBuilder wrong;
  wrong.input("x", DType::float32, {2, 3})
      .node("Relu", {"x"}, {"a"})
      .node("Neg", {"a"}, {"y"})
      .value_info("a", DType::float32, {9})
      .output("y", DType::float32, {5, 7});
  ModelBuilder unequal;
  unequal.input("x", DType::float32, {"?", "?"})
      .initializer("w", tensor<float>({1, 2}, {1, 2}))
      .input("w", DType::float32, {1, 2})
      .opset("com.unused", 3)
      .node("Add", {"x", "w"}, {"y"})
      .output("y", DType::float32, {"?", "?"});
  ModelBuilder lanes;
  lanes.input("x", DType::float32, {2, 4, 8})
      .initializer("s", tensor<float>({2, 1, 8}, std::vector<float>(16, 0.5f)))
      .node("LayerNormalization", {"x", "s"}, {"y"})
      .output("y");
  for (const ModelBuilder& builder : {wrong, unequal, lanes}) {
    const ModelFile model = made(builder.bytes());
    const auto strict = parse_target("pc/strict");
    REQUIRE(strict.ok());
    for (const Target& where : {*strict, target()}) {
      const auto trace = run(model, where);
      REQUIRE_MESSAGE(trace.ok(), trace.error().message);
      CHECK(severity(verified(model, *trace).verdict) <= severity(Verdict::rounding));
    }
  }
}

}  // namespace driftscope::test::ort_test
