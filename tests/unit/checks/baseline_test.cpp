#include <doctest/doctest.h>

#include "core/checks/baseline.hpp"
#include "tests/unit/checks/views.hpp"
#include "tests/unit/support/mutate.hpp"
#include "tests/unit/support/seed.hpp"
#include "tests/unit/support/text.hpp"

namespace driftscope::test::baseline_test {
namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Baseline sample() {
  const ComparisonView view =
      checked_view(checked_target("pc/strict", Verdict::identical, Verdict::identical, {0.1f, 0.7f}),
                   {checked_target("chrome/fast", Verdict::suspect, Verdict::fault, {0.6f, 0.4f})});
  Baseline baseline = baseline_of(view);
  baseline.build = "abc.12";
  baseline.inputs = {"seed:42"};
  baseline.machine = {"Some CPU", 2};
  baseline.measured.starts = 3;
  baseline.measured.seconds = 0.5;
  baseline.targets[1].medians_ns = {1000.5, 1001, 999};
  return baseline;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("Baseline_OfAComparison_KeepsWhatLaterRunsAreJudgedBy") {
  const Baseline baseline = sample();
  REQUIRE(baseline.targets.size() == 2);
  CHECK(baseline.model_sha256 == "ab");
  CHECK(baseline.targets[0].known.empty());
  CHECK(baseline.targets[0].top1 == std::vector<std::int64_t>{1});
  REQUIRE(baseline.targets[1].known.size() == 2);
  CHECK(baseline.targets[1].known[0].output == "conv_out");
  CHECK(baseline.targets[1].known[1].verdict == Verdict::fault);
  CHECK(baseline.targets[1].outputs_sha256.size() == 64);
}

TEST_CASE("Baseline_WrittenAndRead_IsTheSameText") {
  const std::string text = baseline_json(sample());
  const auto read = read_baseline(bytes_of(text));
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  CHECK(baseline_json(*read) == text);
  CHECK(text.size() < 2000);
}

TEST_CASE("Baseline_DamagedFiles_AreErrorsThatNameTheField") {
  const std::string good = baseline_json(sample());
  const auto error_of = [](const std::string& text) {
    const auto read = read_baseline(bytes_of(text));
    REQUIRE(!read.ok());
    return read.error().message;
  };
  CHECK(holds(error_of(good.substr(0, good.size() / 2)), "truncated"));
  CHECK(holds(error_of(""), "baseline: expected JSON; truncated, or edited by hand?"));
  CHECK(holds(error_of("[]"), "baseline: the document: expected an object, got a list"));
  CHECK(holds(error_of(replaced(good, "baseline-1", "baseline-2")), "newer Driftscope"));
  CHECK(holds(error_of(replaced(good, "driftscope-baseline-1", "something")), "format"));
  CHECK(holds(error_of(replaced(good, "\"suspect\"", "\"identical\"")), "verdict"));
  CHECK(holds(error_of(replaced(good, "1000.5", "-1")), "medians_ns"));
  CHECK(holds(error_of(replaced(good, "1000.5", "1e999")), "expected JSON"));
  CHECK(holds(error_of(replaced(good, "\"cores\": 2", "\"cores\": 2.5")), "cores"));
  CHECK(holds(error_of(replaced(good, "\"chrome/fast\"", "\"pc/strict\"")), "twice"));
  CHECK(holds(error_of(replaced(good, "Some CPU", "\\u001b[2J")), "control"));
  std::string deep(100, '[');
  CHECK(holds(error_of("{\"a\":" + deep + std::string(100, ']') + "}"),
              "at most 64 objects and lists inside each other"));
}

TEST_CASE("Baseline_MutatedBytes_AreReadOrRejected") {
  const std::uint64_t seed = test_seed(501);
  SEED_INFO(seed);
  Rng rng(seed);
  const auto good = bytes_of(baseline_json(sample()));
  int rejected = 0;
  for (int i = 0; i < repetitions(4000); ++i) {
    const auto read = read_baseline(mutated(good, rng));
    if (!read.ok()) {
      ++rejected;
      CHECK(!read.error().message.empty());
      continue;
    }
    // Accepted input can be written and read again.
    CHECK(read_baseline(bytes_of(baseline_json(*read))).ok());
  }
  CHECK(rejected > 0);
}

}  // namespace driftscope::test::baseline_test
