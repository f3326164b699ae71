#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "core/base/json.hpp"
#include "core/base/rng.hpp"
#include "core/model/alive_tensors.hpp"
#include "core/protocol/error_json.hpp"
#include "core/protocol/schema.hpp"
#include "core/protocol/service.hpp"
#include "core/protocol/value_stream.hpp"
#include "core/trace/trace_file.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::service_test {
namespace {

using nlohmann::json;
using Bytes = std::vector<std::byte>;

Bytes read_asset(const std::string& name) {
  std::ifstream file(std::string(DRIFTSCOPE_SOURCE_DIR) + "/assets/" + name, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  REQUIRE_MESSAGE(!text.empty(), name);
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

struct Answer {
  json head;
  Bytes payload;
  [[nodiscard]] std::string error() const {
    return head.contains("error") ? head["error"]["message"].get<std::string>() : std::string();
  }
  [[nodiscard]] std::string kind() const {
    return head.contains("error") ? head["error"]["kind"].get<std::string>() : std::string();
  }
};

Answer ask(Service& service, const json& request, const Bytes& payload = {}) {
  const Bytes reply = service.request(pack_message(json_text(request), payload));
  const Message message = unpack_message(reply);
  Answer answer{parse_json(message.json), {message.payload.begin(), message.payload.end()}};
  REQUIRE(answer.head.is_object());
  if (const auto verb = request.find("do"); verb != request.end() && !answer.head.contains("error")) {
    const Status declared = check_response(verb->get<std::string>(), answer.head);
    CHECK_MESSAGE(declared.ok(), declared.error().message);
  }
  return answer;
}

Answer run_to_finish(Service& service, const json& start, const Bytes& inputs = {}) {
  const Answer started = ask(service, start, inputs);
  REQUIRE_MESSAGE(started.error().empty(), started.error());
  for (int i = 0; i < 100000; ++i) {
    const Answer polled = ask(service, {{"do", "poll"}, {"budget_ms", 5}});
    REQUIRE_MESSAGE(polled.error().empty(), polled.error());
    if (polled.head["finished"] == true) return ask(service, {{"do", "finish"}});
  }
  FAIL("never finished");
  return {};
}

void load(Service& service, const std::string& name = "models/lenet5.onnx") {
  const Answer loaded = ask(service, {{"do", "load"}}, read_asset(name));
  REQUIRE_MESSAGE(loaded.error().empty(), loaded.error());
}

Bytes safetensors_of(const std::vector<NamedTensor>& tensors) {
  Trace inputs;
  inputs.tensors = tensors;
  auto bytes = write_trace(inputs);
  REQUIRE(bytes.ok());
  return *std::move(bytes);
}

const json start_seeded = {{"do", "start"}, {"target", "chrome/strict:threads=1"}, {"seed", 42}};

TEST_CASE("Service_Capabilities_NameTheEngines") {
  Service service;
  const Answer answer = ask(service, {{"do", "capabilities"}});
  bool strict = false;
  for (const json& engine : answer.head["engines"])
    strict = strict || (engine["name"] == "strict" && engine["available"] == true);
  CHECK(strict);
  const json& first = answer.head["engines"][0];
  CHECK(first["name"] == "strict");
  CHECK(first["kind"] == "own");
  CHECK(first["device"] == "cpu");
  CHECK(first["same_bits_everywhere"] == true);
  CHECK(first["options"][0] ==
        json({{"name", "threads"}, {"help", ""}, {"default", "all processors"}, {"min", 1}, {"max", 1024}}));
  CHECK(first["options"][1]["values"] == json({"128", "256", "512"}));
  CHECK(answer.head["engines"].back()["kind"] == "reference");
  CHECK(answer.head["threads"].get<int>() >= 1);
  CHECK(!answer.head["instruction_set"].get<std::string>().empty());
}

TEST_CASE("Service_Load_DescribesTheModel") {
  Service service;
  const Answer answer = ask(service, {{"do", "load"}}, read_asset("models/lenet5.onnx"));
  REQUIRE_MESSAGE(answer.error().empty(), answer.error());
  CHECK(answer.head["model_sha256"].get<std::string>().size() == 64);
  CHECK(answer.head["inputs"][0]["shape"] == json({"N", 1, 28, 28}));
  CHECK(answer.head["inputs"][0]["dtype"] == "float32");
  CHECK(answer.head["nodes"].get<int>() > 5);
  CHECK(answer.head["graph"].get<std::string>().find("Conv") != std::string::npos);
  CHECK(answer.head["notes"] == json::array());
}

TEST_CASE("Service_LoadOfAnOddModel_NotesIt") {
  ModelBuilder model;
  model.input("x", DType::float32, {2}).node("Neg", {"x"}, {"y"}).output("y", DType::float32, {3});
  Service service;
  const Answer answer = ask(service, {{"do", "load"}}, model.bytes());
  REQUIRE_MESSAGE(answer.error().empty(), answer.error());
  REQUIRE(answer.head["notes"].size() == 1);
  CHECK(answer.head["notes"][0].get<std::string>().find("'y'") != std::string::npos);
}

TEST_CASE("Service_Run_GivesLayersOutputsAndTrace") {
  Service service;
  load(service);
  json start = start_seeded;
  start["repeat"] = 3;
  start["environment"] = {{"browser", "Test 1"}, {"isolated", true}, {"engine", "liar"}};
  const Answer done = run_to_finish(service, start);
  REQUIRE_MESSAGE(done.error().empty(), done.error());
  CHECK(done.head["outputs"][0]["shape"] == json({1, 10}));
  CHECK(done.head["outputs"][0]["values"].size() == 10);
  const auto trace = read_trace(done.payload);
  REQUIRE(trace.ok());
  CHECK(trace->target == "chrome/strict:threads=1");
  CHECK(trace->model_sha256.size() == 64);
  CHECK(trace->nodes.size() == done.head["layers"].size());
  for (const NodeRecord& node : trace->nodes) {
    CHECK(node.time_ns.size() == 3);
    for (const std::string& output : node.outputs) CHECK(trace->find(output));
  }
  const json run = parse_json(trace->run);
  CHECK(run["host"] == "chrome");
  CHECK(run["browser"] == "Test 1");
  CHECK(run["isolated"] == true);
  CHECK(run["engine"] == "strict");  // the engine's own description takes precedence
  CHECK(run["threads_real"] == 1);
}

TEST_CASE("Service_CaptureOutputs_KeepsNoLayer") {
  Service service;
  load(service);
  json start = start_seeded;
  start["capture"] = "outputs";
  const Answer done = run_to_finish(service, start);
  const auto trace = read_trace(done.payload);
  REQUIRE(trace.ok());
  CHECK(trace->tensors.size() == 2);  // the input and the output
}

TEST_CASE("Service_CaptureFused_IsAcceptedAndRecorded_AnythingElseRejected") {
  Service service;
  load(service);
  json start = start_seeded;
  start["capture"] = "fused";
  const Answer done = run_to_finish(service, start);
  const auto trace = read_trace(done.payload);
  REQUIRE(trace.ok());
  CHECK(parse_json(trace->run)["capture"] == "fused");
  start["capture"] = "everything";
  CHECK(ask(service, start).error().find("\"fused\"") != std::string::npos);
  start["capture"] = "none";
  CHECK(ask(service, start).error().find("none is for measurements alone") != std::string::npos);
}

/// Runs with "stream" and assembles the values from the responses to "poll".
std::vector<NamedTensor> run_streamed(Service& service, json start, Answer& done) {
  std::vector<NamedTensor> values;
  ValueReceiver receiver(
      [&](const std::string& name, const Tensor& tensor) {
        values.push_back({name, tensor});
        return Status();
      },
      1 << 30);
  start["stream"] = true;
  REQUIRE(ask(service, start).error().empty());
  for (bool finished = false; !finished;) {
    const Answer polled = ask(service, {{"do", "poll"}, {"budget_ms", 1}});
    REQUIRE_MESSAGE(polled.error().empty(), polled.error());
    finished = polled.head["finished"] == true;
    if (!polled.head.contains("values")) continue;
    CHECK_FALSE(finished);
    const Status taken =
        receiver.take(pack_message(json_text(json{{"values", polled.head["values"]}}), polled.payload));
    REQUIRE_MESSAGE(taken.ok(), taken.error().message);
  }
  CHECK(receiver.finish().ok());
  done = ask(service, {{"do", "finish"}});
  REQUIRE_MESSAGE(done.error().empty(), done.error());
  return values;
}

TEST_CASE("Service_Stream_BringsTheValuesOfATrace_AndTheTraceHoldsTheOutputs") {
  Service service;
  load(service);
  json start = start_seeded;
  start["repeat"] = 2;
  const Answer whole = run_to_finish(service, start);
  const auto trace = read_trace(whole.payload);
  REQUIRE(trace.ok());
  Answer done;
  const auto values = run_streamed(service, start, done);
  REQUIRE(values.size() == trace->tensors.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    CHECK(values[i].name == trace->tensors[i].name);
    CHECK(std::ranges::equal(values[i].tensor.bytes(), trace->tensors[i].tensor.bytes()));
  }
  const auto rest = read_trace(done.payload);
  REQUIRE(rest.ok());
  CHECK(rest->tensors.size() == 1);
  CHECK(rest->nodes.front().time_ns.size() == 2);
}

TEST_CASE("Service_Values_AreKeptBesideInputsAndOutputs_UnknownOnesRejected") {
  Service service;
  load(service);
  const auto first = read_trace(run_to_finish(service, start_seeded).payload);
  REQUIRE(first.ok());
  const std::string name = first->nodes[1].outputs[0];
  json start = start_seeded;
  start["values"] = {name};
  const auto trace = read_trace(run_to_finish(service, start).payload);
  REQUIRE(trace.ok());
  CHECK(trace->tensors.size() == 3);
  CHECK(trace->find(name));
  start["values"] = {"nowhere"};
  CHECK(ask(service, start).error().find("nowhere") != std::string::npos);
  start["values"] = "all";
  CHECK(ask(service, start).kind() == "bad_input");
  start["values"] = nullptr;
  start["stream"] = 1;
  CHECK(ask(service, start).kind() == "bad_input");
}

TEST_CASE("Service_Samples_SameBitsAsOneByOne") {
  constexpr std::int64_t samples = 5;
  Rng rng(7);
  std::vector<float> pixels(samples * 28 * 28);
  for (float& pixel : pixels) pixel = rng.uniform();
  auto stacked = Tensor::from_values<float>({samples, 1, 1, 28, 28}, pixels);
  REQUIRE(stacked.ok());
  Service service;
  load(service);
  const json start = {{"do", "start"}, {"target", "pc/strict"}, {"samples", samples}};
  const Answer all = run_to_finish(service, start, safetensors_of({{"input", *stacked}}));
  const auto whole = read_trace(all.payload);
  REQUIRE(whole.ok());
  REQUIRE(whole->tensors.size() == 1);
  CHECK(whole->tensors[0].tensor.shape() == Shape{samples, 1, 10});
  CHECK(whole->nodes[0].time_ns.size() == samples);
  for (std::int64_t i = 0; i < samples; ++i) {
    const auto pixels_of_one = std::span(pixels).subspan(static_cast<std::size_t>(i) * 784, 784);
    auto one = Tensor::from_values<float>({1, 1, 28, 28}, std::span<const float>(pixels_of_one));
    REQUIRE(one.ok());
    const Answer done =
        run_to_finish(service, {{"do", "start"}, {"target", "pc/strict"}}, safetensors_of({{"input", *one}}));
    const auto trace = read_trace(done.payload);
    REQUIRE(trace.ok());
    const Tensor* output = trace->find(whole->tensors[0].name);
    REQUIRE(output);
    const auto part = whole->tensors[0].tensor.bytes().subspan(static_cast<std::size_t>(i) * 40, 40);
    CHECK(std::equal(part.begin(), part.end(), output->bytes().begin(), output->bytes().end()));
    const auto scores = output->values<float>();
    CHECK(all.head["predictions"][static_cast<std::size_t>(i)] ==
          std::ranges::max_element(scores) - scores.begin());
    CHECK_FALSE(done.head.contains("predictions"));
  }
}

TEST_CASE("Service_RequestsOutOfOrder_AnsweredByErrors") {
  Service service;
  CHECK(ask(service, start_seeded).error().find("before a model was loaded") != std::string::npos);
  CHECK(ask(service, {{"do", "poll"}}).kind() == "bad_input");
  CHECK(ask(service, {{"do", "finish"}}).kind() == "bad_input");
  CHECK(ask(service, {{"do", "cancel"}}).error().empty());
  load(service);
  CHECK(ask(service, start_seeded).error().empty());
  CHECK(ask(service, {{"do", "finish"}}).error().find("before the run has finished") != std::string::npos);
  CHECK(ask(service, {{"do", "cancel"}}).error().empty());
  CHECK(ask(service, {{"do", "poll"}}).kind() == "bad_input");
}

TEST_CASE("Service_MalformedMessages_AnsweredByErrors") {
  Service service;
  for (const std::string& text :
       {std::string(), std::string("abc"), std::string("\xff\xff\xff\xff{}"), std::string("\x02\0\0\0{", 5),
        std::string("\x02\0\0\0[]", 6), std::string("\x02\0\0\0{}", 6)}) {
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    const Bytes reply = service.request({begin, text.size()});
    const json head = parse_json(unpack_message(reply).json);
    CHECK(head.contains("error"));
  }
  // A length beyond the message is not accepted as a shorter message.
  const std::string lying = std::string("\x40\0\0\0", 4) + R"({"do":"capabilities"})";
  const Bytes reply = service.request(std::as_bytes(std::span(lying)));
  CHECK(unpack_message(reply).json.find("malformed message") != std::string::npos);
  CHECK(ask(service, {{"do", 7}}).error().find("field \"do\": expected one of capabilities") !=
        std::string::npos);
  CHECK(ask(service, {{"do", "dance"}}).error().find("dance") != std::string::npos);
  CHECK(ask(service, {{"do", "load"}}).error().find("no model bytes") != std::string::npos);
}

TEST_CASE("Service_StartWithWrongFields_NamesTheField") {
  Service service;
  load(service);
  const auto rejected = [&](const char* field, const json& value) {
    json start = start_seeded;
    start[field] = value;
    const Answer answer = ask(service, start);
    CHECK_MESSAGE(answer.kind() == "bad_input", field);
    CHECK_MESSAGE(answer.error().find(field) != std::string::npos, answer.error());
  };
  rejected("repeat", 0);
  rejected("repeat", 1.5);
  rejected("repeat", "many");
  rejected("samples", -1);
  rejected("samples", 18446744073709551615ull);
  rejected("capture", "some");
  rejected("target", 3);
  rejected("target", "nowhere");
  rejected("seed", -1);
  rejected("environment", {{"nested", json::array({1})}});
  rejected("environment", 5);
  CHECK(ask(service, {{"do", "start"}, {"target", "pc/strict"}}).error().find("inputs") != std::string::npos);
  CHECK(ask(service, start_seeded, {std::byte{0}}).error().find("not both") != std::string::npos);
  CHECK(ask(service, {{"do", "start"}, {"target", "pc/none"}, {"seed", 1}}).error().find("none") !=
        std::string::npos);
}

TEST_CASE("Service_ModelOutside_IsReadThere") {
  const Bytes model = read_asset("models/lenet5.onnx");
  Service service;
  const json outside = {{"do", "load"}, {"outside", model.size()}};
  CHECK(ask(service, outside).error().find("has no bytes outside") != std::string::npos);
  service.load_from([&](std::uint64_t offset, std::span<std::byte> target) {
    REQUIRE(offset + target.size() <= model.size());
    std::copy_n(model.begin() + static_cast<std::ptrdiff_t>(offset), target.size(), target.begin());
  });
  const Answer loaded = ask(service, outside);
  REQUIRE_MESSAGE(loaded.error().empty(), loaded.error());
  Service other;
  CHECK(ask(other, {{"do", "load"}}, model).head == loaded.head);
  CHECK(run_to_finish(service, start_seeded).head["outputs"] ==
        run_to_finish(other, start_seeded).head["outputs"]);
}

TEST_CASE("Service_Unhashed_SaysNoHash_HereAndInTheTrace") {
  const Bytes model = read_asset("models/lenet5.onnx");
  Service service;
  const Answer loaded = ask(service, {{"do", "load"}, {"unhashed", true}}, model);
  REQUIRE_MESSAGE(loaded.error().empty(), loaded.error());
  CHECK(loaded.head.at("model_sha256") == "");
  const auto trace = read_trace(run_to_finish(service, start_seeded).payload);
  REQUIRE(trace.ok());
  CHECK(trace->model_sha256.empty());
  CHECK(ask(service, {{"do", "load"}, {"unhashed", 1}}, model).error().find("unhashed") != std::string::npos);
}

TEST_CASE("Service_ModelLoadedOnce_GivesItsWeightsToTheSession") {
  const Bytes model = read_asset("models/lenet5.onnx");
  for (const char* engine : {"strict", "fast"}) {
    CAPTURE(engine);
    json start = {{"do", "prepare"},
                  {"target", "pc/" + std::string(engine) + ":threads=1"},
                  {"seed", 42},
                  {"capture", "none"}};
    Service keeps, gives;
    const std::int64_t before = alive_tensors().bytes;
    REQUIRE(ask(keeps, {{"do", "load"}}, model).error().empty());
    const std::int64_t weights = alive_tensors().bytes - before;
    REQUIRE(ask(keeps, start).error().empty());
    const std::int64_t kept = alive_tensors().bytes - before;
    REQUIRE(ask(gives, {{"do", "load"}, {"once", true}}, model).error().empty());
    REQUIRE(ask(gives, start).error().empty());
    const std::int64_t given = alive_tensors().bytes - before - kept;
    CHECK(kept - given > weights * 3 / 4);  // the rest are small
    CHECK(ask(gives, start).error().find("load it again") != std::string::npos);
    CHECK(ask(gives, {{"do", "compare"}}).error().find("load it again") != std::string::npos);
    // And it still computes, any number of times, the same as the other.
    start["do"] = "start";
    start["capture"] = "all";
    REQUIRE(ask(gives, {{"do", "load"}, {"once", true}}, model).error().empty());
    start["repeat"] = 2;
    CHECK(run_to_finish(gives, start).head["outputs"] == run_to_finish(keeps, start).head["outputs"]);
  }
}

TEST_CASE("Service_ExternalDataWithoutItsFile_NamesTheFile") {
  // A TensorProto with external data: dims [1], data_type FLOAT, external_data location "w.bin",
  // data_location EXTERNAL; an initializer and the output of a graph with one Identity.
  const auto field = [](char tag, const std::string& text) {
    return std::string{tag, static_cast<char>(text.size())} + text;
  };
  const std::string location = field(0x0a, "location") + field(0x12, "w.bin");
  const std::string tensor = std::string("\x08\x01\x10\x01", 4) + field(0x42, "w") + field(0x6a, location) +
                             std::string("\x70\x01", 2);
  const std::string node = field(0x0a, "w") + field(0x12, "y") + field(0x22, "Identity");
  const std::string graph =
      field(0x0a, node) + field(0x12, "g") + field(0x2a, tensor) + field(0x62, field(0x0a, "y"));
  const std::string model =
      std::string("\x08\x07", 2) + field(0x3a, graph) + field(0x42, std::string("\x10\x0d", 2));
  const auto bytes_of = [](const std::string& text) {
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    return Bytes(begin, begin + text.size());
  };
  Service service;
  CHECK(ask(service, {{"do", "load"}}, bytes_of(model)).error().find("w.bin") != std::string::npos);
  const json with_file = {{"do", "load"}, {"attachments", {{{"name", "w.bin"}, {"bytes", 4}}}}};
  const Answer loaded = ask(service, with_file, bytes_of(model + std::string("\0\0\x80\x3f", 4)));
  CHECK_MESSAGE(loaded.error().empty(), loaded.error());
  const Answer done = run_to_finish(service, start_seeded);
  CHECK(done.head["outputs"][0]["values"] == json({1.0}));
  json lying = with_file;
  lying["attachments"][0]["bytes"] = 1 << 20;
  CHECK(ask(service, lying, bytes_of(model)).kind() == "bad_input");
  lying["attachments"][0]["bytes"] = -1;
  CHECK(ask(service, lying, bytes_of(model)).kind() == "bad_input");
}

// For any bytes there is a response, and the service continues to work.
TEST_CASE("Service_MutatedMessages_AlwaysAnswered") {
  constexpr std::uint64_t seed = 20261120;
  MESSAGE("seed ", seed);
  Rng rng(seed);
  const Bytes model = read_asset("models/lenet1.onnx");
  const std::vector<Bytes> whole = {
      pack_message(R"({"do":"load","attachments":[{"name":"a","bytes":3}]})", model),
      pack_message(R"({"do":"start","target":"pc/strict:threads=1","seed":1,"repeat":2})", {}),
      pack_message(R"({"do":"start","target":"pc/strict","samples":2,"environment":{"a":1}})", model),
      pack_message(R"({"do":"poll","budget_ms":1})", {}),
      pack_message(R"({"do":"finish"})", {}),
  };
  Service service;
  for (int round = 0; round < 3000; ++round) {
    Bytes message = whole[rng.below(whole.size())];
    // Often the start, where the JSON and the model's structure are; else anywhere.
    const std::size_t reach = rng.below(3) == 0 ? message.size() : std::size_t{100};
    for (std::uint64_t i = rng.below(3); i > 0; --i)
      message[rng.below(std::min(message.size(), reach))] = static_cast<std::byte>(rng.below(256));
    if (rng.below(8) == 0) message.resize(rng.below(message.size()));
    const Bytes reply = service.request(message);
    const json head = parse_json(unpack_message(reply).json);
    REQUIRE(head.is_object());
  }
  load(service);
  CHECK(run_to_finish(service, start_seeded).error().empty());
}

TEST_CASE("ErrorJson_EveryKind_SurvivesTheWay") {
  for (const ErrorKind kind :
       {ErrorKind::bad_input, ErrorKind::unsupported, ErrorKind::limit, ErrorKind::missing, ErrorKind::io,
        ErrorKind::cancelled, ErrorKind::internal}) {
    const Error back = error_from_json(error_to_json({kind, "what"}));
    CHECK(back.kind == kind);
    CHECK(back.message == "what");
  }
  CHECK(error_from_json(json::array()).kind == ErrorKind::internal);
  const std::string whole(30'000, 'x');
  CHECK(error_from_json({{"kind", "odd"}, {"message", whole}}).message == whole);
  std::string longer = "x";  // so that the limit lies within a code point
  for (int i = 0; i < 20'000; ++i) longer += "é";
  const std::string cut = error_from_json({{"kind", "io"}, {"message", longer}}).message;
  CHECK(cut.ends_with("é … (7234 more bytes are left out)"));
  CHECK(cut.size() < 33'000);
  CHECK(json_text(json{{"text", "\xff"}}).find("\xef\xbf\xbd") != std::string::npos);
}

}  // namespace
}  // namespace driftscope::test::service_test
