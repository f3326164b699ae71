// Peers in a Node process: a real one, with a small runtime that doubles its input, fails, hangs or dies.
#include "native/peers/node/node_runtime.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include "native/os/child_process.hpp"
#include "native/os/files.hpp"
#include "native/os/temp_folder.hpp"
#include "unit/support/model_builder.hpp"

namespace driftscope::test::node_runtime_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* adapter = R"js(
export class Peer {
  stuck = null;
  async open({ graph, options, threads }) {
    if (options.do === "reject") throw new Error("nothing to compute");
    if (options.do === "die") { console.error("out of luck"); process.exit(7); }
    if (options.do === "block") for (;;);
    if (options.do === "wait") await new Promise(() => setInterval(() => {}, 1000));
    this.threads = threads;
    return options.do ?? "double";
  }
  tensor(dtype, shape, buffer) { return { dtype, shape, data: new Float32Array(buffer) }; }
  async run(session, inputs, outputs, { timed }) {
    const [{ dtype, shape, data }] = Object.values(inputs);
    const values = outputs.map((name) => ({ dtype: session === "dtype" && name === "x" ? "float17" : dtype,
                                            shape: session === "shape" ? [1.5] : shape,
                                            data: data.map((x) => 2 * x) }));
    return timed ? { values, times: [["y", 0.002]], time_ms: 1 } : values;
  }
  release() {}
  about() { return { threads: this.threads, instruction_set: "none", options: { node: process.version } }; }
  heap() { return { bytes: 123, kind: "tiny_heap" }; }
  failure(error, rejection) { return { kind: rejection, message: error.message }; }
  died() {}
  close() {}
}
)js";

/// A site with the modules of this tree and one adapter.
struct Site {
  TempFolder folder = *TempFolder::make();

  Site() {
    const fs::path web = folder.path() / "web";
    for (const char* part : {"peers", "shared"}) {
      fs::create_directories(web / part);
      for (const auto& entry : fs::directory_iterator(fs::path(DRIFTSCOPE_SOURCE_DIR) / "web" / part))
        if (entry.is_regular_file()) fs::copy_file(entry.path(), web / part / entry.path().filename());
    }
    const fs::path peers = web / "peers";
    fs::create_directories(peers / "tiny");
    fs::create_directories(folder.path() / "engine");
    write(folder.path() / "index.html", "");
    write(peers / "tiny" / "tiny.mjs", adapter);
    setenv("DRIFTSCOPE_SITE", folder.path().c_str(), 1);
  }
  ~Site() { unsetenv("DRIFTSCOPE_SITE"); }

  static void write(const fs::path& path, std::string_view text) { REQUIRE(write_file(path, text).ok()); }
};

const peer::PeerInfo& tiny() {
  static const peer::PeerInfo info = [] {
    peer::PeerInfo made;
    made.engine.name = "tiny";
    made.title = "Tiny";
    made.version = "1";
    made.takes = peer::Takes::graph;
    made.in_browsers.package = "tiny";
    made.under_node = true;
    return made;
  }();
  return info;
}

std::shared_ptr<const Graph> graph() {
  return std::make_shared<const Graph>(
      built(ModelBuilder().input("x", DType::float32, {3}).node("Add", {"x", "x"}, {"y"}).output("y")));
}

Result<std::unique_ptr<peer::RuntimeModel>> open(const std::string& how) {
  peer::CreateRequest request;
  request.graph = graph();
  request.threads = 2;
  if (!how.empty()) request.options["do"] = how;
  return node::runtime_of(tiny()).create(request);
}

/// Polls for up to 10 s.
Result<bool> wait_until_ready(peer::RuntimeModel& model, int polls = 100) {
  for (int i = 0; i < polls; ++i) {
    DRIFTSCOPE_TRY(const bool ready, model.ready());
    if (ready) return true;
    CHECK(model.wait());
  }
  return false;
}

}  // namespace

TEST_CASE("NodeRuntime_RunsInAProcessOfItsOwn_AndReturnsValuesAndTimes") {
  const Site site;
  const auto available = node::runtime_of(tiny()).available();
  REQUIRE_MESSAGE(available.ok, available.reason);
  const auto model = open("");
  REQUIRE_MESSAGE(model.ok(), model.error().message);
  const auto ready = wait_until_ready(**model);
  REQUIRE_MESSAGE(ready.ok(), ready.error().message);
  REQUIRE(*ready);
  RanWith ran;
  (*model)->describe(ran);
  CHECK(ran.threads_real == 2);
  CHECK(ran.options["node"].starts_with("v"));
  // Both processes, not what the runtime says of itself: Node alone takes more than 10 MB.
  const auto memory = (*model)->memory();
  REQUIRE(memory);
  CHECK(memory->kind == "process_tree_pss");
  CHECK(memory->bytes > sample_memory().bytes + 10'000'000);
  for (const bool timed : {false, true}) {
    const std::vector<NamedTensor> inputs = {{"x", tensor<float>({3}, {1, 2, 3})}};
    const std::vector<std::string> outputs = {"y", "x"};
    REQUIRE((*model)->run(inputs, outputs, timed).ok());
    std::optional<peer::RunResult> result;
    for (int i = 0; i < 100 && !result; ++i) {
      auto now = (*model)->result();
      REQUIRE_MESSAGE(now.ok(), now.error().message);
      result = *std::move(now);
      if (!result) CHECK((*model)->wait());
    }
    REQUIRE(result);
    REQUIRE(result->values.size() == 2);
    CHECK(result->values[1].tensor.shape() == Shape{3});
    CHECK(result->values[1].tensor.values<float>()[2] == 6);
    CHECK(result->times.size() == (timed ? 1 : 0));
    if (timed) CHECK(result->times[0] == std::pair<std::string, std::int64_t>{"y", 2000});
    if (timed) CHECK(result->time_ns == 1'000'000);
  }
}

TEST_CASE("NodeRuntime_WhatTheRuntimeThrows_IsInItsWords") {
  const Site site;
  const auto model = open("reject");
  REQUIRE(model.ok());
  const auto ready = wait_until_ready(**model);
  REQUIRE_FALSE(ready.ok());
  CHECK(ready.error().message == "Tiny 1 says: nothing to compute");
}

TEST_CASE("NodeRuntime_ShapeThatIsNone_IsTheRuntimesFault") {
  const Site site;
  const auto model = open("shape");
  REQUIRE(model.ok());
  REQUIRE(*wait_until_ready(**model));
  const std::vector<NamedTensor> inputs = {{"x", tensor<float>({3}, {1, 2, 3})}};
  REQUIRE((*model)->run(inputs, std::vector<std::string>{"y"}, false).ok());
  Result<std::optional<peer::RunResult>> result = std::optional<peer::RunResult>();
  for (int i = 0; i < 100 && result.ok() && !*result; ++i) {
    (void)(*model)->wait();
    result = (*model)->result();
  }
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().message.find("Tiny 1 says: value 0 came as float32 of shape [1.5]") == 0);
}

// The first value already had memory for its elements when the second was rejected; nothing may write there.
TEST_CASE("NodeRuntime_ValueOfAnUnknownType_IsRejectedAndTheNextRunIsSound") {
  const Site site;
  const auto model = open("dtype");
  REQUIRE(model.ok());
  REQUIRE(*wait_until_ready(**model));
  const std::vector<NamedTensor> inputs = {{"x", tensor<float>({3}, {1, 2, 3})}};
  const auto run = [&](const std::vector<std::string>& outputs) {
    REQUIRE((*model)->run(inputs, outputs, false).ok());
    Result<std::optional<peer::RunResult>> result = std::optional<peer::RunResult>();
    for (int i = 0; i < 100 && result.ok() && !*result; ++i) {
      (void)(*model)->wait();
      result = (*model)->result();
    }
    return result;
  };
  const auto rejected = run({"y", "x"});
  REQUIRE_FALSE(rejected.ok());
  CHECK(rejected.error().message == "Tiny returned value x as float17, which is not known here");
  const auto sound = run({"y"});
  REQUIRE_MESSAGE(sound.ok(), sound.error().message);
  REQUIRE(*sound);
  CHECK((*sound)->values[0].tensor.values<float>()[2] == 6);
}

TEST_CASE("NodeRuntime_ProcessThatDies_IsNamedWithItsLastWords_AndTheNextModelRuns") {
  const Site site;
  {
    const auto model = open("die");
    REQUIRE(model.ok());
    const auto ready = wait_until_ready(**model);
    REQUIRE_FALSE(ready.ok());
    CHECK(ready.error().message.find("Tiny: its Node process ended (exit status 7)") == 0);
    CHECK(ready.error().message.find("out of luck") != std::string::npos);
  }
  const auto model = open("");
  REQUIRE(model.ok());
  CHECK(*wait_until_ready(**model));
}

TEST_CASE("NodeRuntime_RuntimeThatHangs_IsEndedWithItsModel") {
  const Site site;
  for (const char* how : {"wait", "block"}) {
    auto model = open(how);
    REQUIRE(model.ok());
    const auto ready = wait_until_ready(**model, 5);
    REQUIRE(ready.ok());
    CHECK_FALSE(*ready);
    model->reset();  // must not wait for it
    const auto next = open("");
    REQUIRE(next.ok());
    CHECK(*wait_until_ready(**next));
  }
}

TEST_CASE("NodeRuntime_SiteWithoutTheRuntimesFiles_IsMissing") {
  const Site site;
  static peer::PeerInfo info = tiny();
  info.engine.name = "tiny2";
  info.engine.browser_files = {"tiny2/big.wasm"};
  const auto available = node::runtime_of(info).available();
  CHECK_FALSE(available.ok);
  CHECK(available.reason.find("lacks tiny2/big.wasm; run tools/setup") != std::string::npos);
}

}  // namespace driftscope::test::node_runtime_test
