// Self-descriptions of engines, and the check of options against them.
#include "core/runtime/engine_info.hpp"

#include <doctest/doctest.h>

#include <set>

#include "core/runtime/resolve_target.hpp"

namespace driftscope::test::engine_info_test {
namespace {

const EngineInfo sample = {
    .name = "sample",
    .summary = "for this test",
    .options = {threads_option(),
                {.name = "mode", .help = "how", .values = {"quick", "slow"}, .default_text = "quick"},
                {.name = "size", .min = -2, .max = 7}},
    .dotted_options = "settings, as sample.x=1"};

std::string rejected(const std::map<std::string, std::string>& options) {
  const Status status = check_options(sample, options);
  REQUIRE(!status.ok());
  CHECK(status.error().kind == ErrorKind::bad_input);
  return status.error().message;
}

std::string rejected_target(const char* text) {
  const auto resolved = resolve_target(*parse_target(text));
  REQUIRE_MESSAGE(!resolved.ok(), text);
  CHECK(resolved.error().kind == ErrorKind::bad_input);
  return resolved.error().message;
}

}  // namespace

TEST_CASE("EngineInfo_EveryEngine_SaysWhatListsNeed") {
  std::set<std::string> names;
  int order = 0;
  for (const auto& engine : engines()) {
    const EngineInfo& info = engine->info();
    CAPTURE(info.name);
    CHECK(names.insert(info.name).second);
    CHECK(!info.name.empty());
    CHECK(info.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos);
    CHECK(!info.summary.empty());
    CHECK(info.summary.find('\n') == std::string::npos);
    CHECK(info.order >= order);
    CHECK((info.on_pc || info.in_browsers));
    order = info.order;
    std::set<std::string> options;
    for (const EngineOption& option : info.options) {
      CAPTURE(option.name);
      CHECK(options.insert(option.name).second);
      CHECK(option.name.find_first_of(".=,:/") == std::string::npos);
      CHECK((option.version || !option.values.empty() || option.min < option.max));
    }
  }
  CHECK(default_engine().info().same_bits_everywhere);
}

TEST_CASE("EngineOptions_KnownNamesAndValues_AreTaken") {
  CHECK(check_options(sample, {}).ok());
  CHECK(check_options(sample, {{"threads", "1"}, {"mode", "slow"}, {"size", "-2"}}).ok());
  CHECK(check_options(sample, {{"sample.anything", "what ever"}}).ok());
}

TEST_CASE("EngineOptions_Unknown_ListsWhatThereIs") {
  const std::string message = rejected({{"colour", "red"}});
  CHECK(message ==
        "engine sample has no option \"colour\". Its options: threads=N (default: all processors), "
        "mode=quick|slow (default: quick; how), size=N, and settings, as sample.x=1");
  EngineInfo closed = sample;
  closed.dotted_options.clear();
  CHECK(!check_options(closed, {{"sample.x", "1"}}).ok());
  const EngineInfo bare = {.name = "bare", .summary = "nothing to choose"};
  CHECK(check_options(bare, {{"x", "1"}}).error().message ==
        "engine bare has no option \"x\", nor any other");
}

TEST_CASE("EngineOptions_BadValue_SaysWhatIsExpected") {
  CHECK(rejected({{"mode", "fast"}}) == "option mode=fast: expected quick, slow");
  for (const char* bad : {"8", "-3", "", "2x", "x", "+1", " 1", "99999999999999999999"}) {
    CAPTURE(bad);
    CHECK(rejected({{"size", bad}}).find("a whole number from -2 to 7") != std::string::npos);
  }
}

TEST_CASE("EngineOptions_Threads_AreReadAndTheRestKept") {
  const auto options = read_engine_options(sample, {{"threads", "3"}, {"mode", "slow"}});
  REQUIRE(options.ok());
  CHECK(options->threads == 3);
  CHECK(options->values == std::map<std::string, std::string>{{"mode", "slow"}});
  for (const char* bad : {"0", "-1", "x", "2x", "", "99999999999999999999", "1025"})
    CHECK(!read_engine_options(sample, {{"threads", bad}}).ok());
}

TEST_CASE("ResolveTarget_WasmBuild_IsTheBrowsersOption") {
  const auto resolved = resolve_target(*parse_target("chrome/strict:wasm=simd,threads=2"));
  REQUIRE(resolved.ok());
  CHECK(resolved->engine->name() == "strict");
  CHECK(resolved->options.threads == 2);
  CHECK(resolved->options.values.empty());
  CHECK(rejected_target("pc/strict:wasm=simd").find("remove it") != std::string::npos);
  CHECK(rejected_target("chrome/strict:wasm=mmx").find("relaxed-threads, simd-threads") != std::string::npos);
}

TEST_CASE("ResolveTarget_UnknownEngineOrOption_IsAnError") {
  CHECK(rejected_target("pc/quantum").find("strict, fast") != std::string::npos);
  CHECK(rejected_target("pc/strict:wise=1").find("simd=128|256|512") != std::string::npos);
}

TEST_CASE("RunsOn_BrowsersAndPc") {
  EngineInfo info = sample;
  CHECK(runs_on(info, "pc"));
  CHECK(runs_on(info, "chrome"));
  info.on_pc = false;
  CHECK(!runs_on(info, "pc"));
  info.in_browsers = false;
  CHECK(!runs_on(info, "firefox"));
}

}  // namespace driftscope::test::engine_info_test
