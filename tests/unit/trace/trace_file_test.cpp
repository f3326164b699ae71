#include "core/trace/trace_file.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/trace/safetensors.hpp"
#include "unit/support/model_builder.hpp"
#include "unit/support/text.hpp"

namespace driftscope::test::trace_file_test {
namespace {

Trace full_trace() {
  Trace trace;
  trace.model_sha256 = std::string(64, 'a');
  trace.target = "chrome/strict:threads=2";
  trace.run = R"({"engine":"strict","options":{"threads":"2"},"isolated":true})";
  trace.nodes = {{"Conv_0", "Conv", {"c"}, {100, 90, 95}}, {"été", "Relu", {"y", "", "z"}, {}}};
  trace.memory = {{0.0, 1'000'000, "wasm_heap"}, {0.1, 9'007'199'254'740'993, "process_pss"}};
  trace.tensors = {{"x", tensor<float>({1, 2}, {1.0f, -0.0f})},
                   {"c", tensor<std::int64_t>({}, {-7})},
                   {"a", tensor<float>({0}, {})}};
  return trace;
}

std::vector<std::byte> with_metadata(std::map<std::string, std::string> metadata) {
  const auto bytes = write_safetensors({std::move(metadata), {{"x", tensor<float>({1}, {1.0f})}}});
  REQUIRE(bytes.ok());
  return *bytes;
}

std::string failure(std::map<std::string, std::string> metadata) {
  const auto trace = read_trace(with_metadata(std::move(metadata)));
  REQUIRE_MESSAGE(!trace.ok(), "the trace was accepted");
  return trace.error().message;
}

const std::string ours = "driftscope-trace-1";

}  // namespace

TEST_CASE("TraceFile_RoundTrip_IsExact") {
  const Trace trace = full_trace();
  const auto bytes = write_trace(trace);
  REQUIRE_MESSAGE(bytes.ok(), bytes.error().message);
  const auto again = read_trace(*bytes);
  REQUIRE_MESSAGE(again.ok(), again.error().message);
  CHECK(again->model_sha256 == trace.model_sha256);
  CHECK(again->target == trace.target);
  CHECK(again->run == trace.run);
  REQUIRE(again->nodes.size() == 2);
  CHECK(again->nodes[0].time_ns == trace.nodes[0].time_ns);
  CHECK(again->nodes[1].name == "été");
  CHECK(again->nodes[1].op == "Relu");
  CHECK(again->nodes[1].outputs == trace.nodes[1].outputs);
  REQUIRE(again->memory.size() == 2);
  CHECK(again->memory[1].t_ms == 0.1);
  CHECK(again->memory[1].bytes == 9'007'199'254'740'993);  // more than a double holds
  CHECK(again->memory[1].kind == "process_pss");
  REQUIRE(again->tensors.size() == 3);
  CHECK(again->tensors[0].name == "x");
  CHECK(again->tensors[1].name == "c");
  CHECK(again->tensors[2].name == "a");
  CHECK(std::signbit(again->tensors[0].tensor.values<float>()[1]));
  CHECK(write_trace(*again).value() == *bytes);
}

TEST_CASE("TraceFile_TensorsAlone_IsATrace") {
  for (const std::map<std::string, std::string>& metadata :
       {std::map<std::string, std::string>{}, {{"format", ours}}}) {
    const auto trace = read_trace(with_metadata(metadata));
    REQUIRE_MESSAGE(trace.ok(), trace.error().message);
    CHECK(trace->tensors.size() == 1);
    CHECK(trace->model_sha256.empty());
    CHECK(trace->target.empty());
    CHECK(trace->run == "{}");
    CHECK(trace->nodes.empty());
  }
}

TEST_CASE("TraceFile_KeysOfOtherPrograms_AreNotTaken") {
  const auto trace = read_trace(with_metadata({{"format", "pt"}, {"nodes", "3"}, {"target", "t"}}));
  REQUIRE_MESSAGE(trace.ok(), trace.error().message);
  CHECK(trace->target.empty());
}

TEST_CASE("TraceFile_LaterVersion_IsUnsupported") {
  const auto trace = read_trace(with_metadata({{"format", "driftscope-trace-2"}}));
  REQUIRE_FALSE(trace.ok());
  CHECK(trace.error().kind == ErrorKind::unsupported);
  CHECK(holds(trace.error().message, "this build reads driftscope-trace-1"));
}

TEST_CASE("TraceFile_NodesAsTheDesignHasThem_AreRead") {
  const auto trace = read_trace(
      with_metadata({{"format", ours},
                     {"nodes", R"([{"name":"Conv_0","op":"Conv","outputs":["c"],"time_ns":[5]},{}])"},
                     {"memory", R"([{"t_ms":1,"bytes":2,"kind":"k","more":0}])"}}));
  REQUIRE_MESSAGE(trace.ok(), trace.error().message);
  CHECK(trace->nodes.at(0).time_ns == std::vector<std::int64_t>{5});
  CHECK(trace->nodes.at(1).name.empty());
  CHECK(trace->memory.at(0).t_ms == 1.0);
}

TEST_CASE("TraceFile_BadMetadata_IsNamed") {
  const auto with = [](const std::string& key, const std::string& value) {
    return failure({{"format", ours}, {key, value}});
  };
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  std::string many_keys = "\"last\":0";
  for (int i = 0; i < 10'000; ++i) many_keys += ",\"" + std::to_string(i) + "\":0";
  CHECK(holds(with("target", "\x1b[2J"), "control characters"));
  CHECK(holds(with("run", "[]"), "run is not a JSON object"));
  CHECK(holds(with("run", "{"), "__metadata__: run: expected JSON"));
  CHECK(holds(with("run", std::string(5000, '[')), "__metadata__: run: expected JSON"));
  CHECK(holds(with("run", R"({"a":)" + nested(32) + "}"), "run: expected at most 32 objects and lists"));
  CHECK(holds(with("run", "{" + many_keys + "}"), "run: expected at most 10000 keys in an object"));
  CHECK(holds(with("nodes", "[{"), "__metadata__: nodes: expected JSON"));
  CHECK(holds(with("nodes", R"([{"new":)" + nested(64) + "}]"),
              "nodes: expected at most 64 objects and lists"));
  CHECK(holds(with("nodes", "[{" + many_keys + "}]"), "nodes: expected at most 10000 keys in an object"));
  CHECK(holds(with("nodes", "{}"), "nodes: expected a list, got an object"));
  CHECK(holds(with("nodes", "[{},3]"), "nodes[1]: expected an object, got 3"));
  CHECK(holds(with("nodes", R"([{"name":5}])"), "nodes[0].name: expected a string, got 5"));
  CHECK(holds(with("nodes", R"([{"time_ns":[1.5]}])"),
              "nodes[0].time_ns[0]: expected a whole number of 64 bits, got 1.5"));
  CHECK(holds(with("nodes", R"([{"time_ns":[18446744073709551615]}])"), "of 64 bits"));
  CHECK(holds(with("nodes", R"([{"time_ns":7}])"), "time_ns: expected a list, got 7"));
  CHECK(holds(with("nodes", R"([{"time_ns":[-1]}])"), "nodes[0].time_ns: a time is at least 0, got -1"));
  CHECK(holds(with("nodes", R"([{"time_ns":[9223372036854775807]},{"time_ns":[1]}])"),
              "does not fit into 64 bits"));
  CHECK(holds(with("nodes", R"([{"outputs":[1]}])"), "outputs"));
  CHECK(holds(with("memory", R"([{"t_ms":"a"}])"), "memory[0].t_ms: expected a number or null, got 'a'"));
  CHECK(holds(with("memory", R"([{"t_ms":1}])"), "memory[0]: \"bytes\" is missing"));
  for (const std::string time : {"1e308", "-1e308", "1.01e15"})
    CHECK(holds(with("memory",
                     R"([{"t_ms":1e15,"bytes":2,"kind":"k"},{"t_ms":)" + time + R"(,"bytes":2,"kind":"k"}])"),
                "memory[1].t_ms: milliseconds since the start of the run are from -1e+15 to 1e+15, got " +
                    time.substr(0, time.find('e'))));
}

TEST_CASE("TraceFile_WhatCannotBeWritten_IsAnError") {
  Trace bad_run = full_trace();
  bad_run.run = "3";
  CHECK_FALSE(write_trace(bad_run).ok());
  Trace bad_name = full_trace();
  bad_name.nodes[0].name = "\xff";
  const auto bytes = write_trace(bad_name);
  REQUIRE_FALSE(bytes.ok());
  CHECK(holds(bytes.error().message, "nodes holds text that is not UTF-8"));
  Trace late = full_trace();
  late.memory[1].t_ms = 1e308;
  CHECK_FALSE(write_trace(late).ok());
  Trace twice = full_trace();
  twice.tensors.push_back(twice.tensors.front());
  CHECK_FALSE(write_trace(twice).ok());
}

}  // namespace driftscope::test::trace_file_test
