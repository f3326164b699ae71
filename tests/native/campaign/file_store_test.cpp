// The store of a campaign as a file: killed processes, full disks, two processes, other files.
#include "native/campaign/file_store.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/base/rng.hpp"
#include "native/os/files.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope::test::file_store_test {
namespace {

namespace fs = std::filesystem;

const CampaignDefinition definition{"test", {{"seed", 7}}, "build"};
constexpr std::int64_t items = 60;

Campaign campaign_of() {
  Campaign campaign;
  campaign.targets = {"pc/a", "pc/b"};
  campaign.items = items;
  campaign.name_of = [](std::int64_t item) { return std::to_string(item); };
  campaign.check = [](std::size_t target, std::span<const std::int64_t> batch) {
    std::vector<nlohmann::json> results;
    for (const std::int64_t item : batch) {
      results.push_back(
          {{"n", item * 3 + static_cast<std::int64_t>(target)}, {"padding", std::string(200, 'x')}});
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return Result<std::vector<nlohmann::json>>(std::move(results));
  };
  campaign.seconds = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  campaign.batch_seconds = 0.001;
  return campaign;
}

/// Whether the campaign was finished; the error's message else.
std::string run(const fs::path& path) {
  auto store = FileStore::open(path, definition);
  if (!store.ok()) return store.error().message;
  const auto outcome = run_campaign(campaign_of(), *store, [](const CampaignStep&) {});
  if (!outcome.ok()) return outcome.error().message;
  return outcome->finished ? "finished" : "not finished";
}

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

CampaignResults results_in(const fs::path& path) {
  auto stored = read_store(content(path), definition);
  REQUIRE_MESSAGE(stored.ok(), stored.error().message);
  return stored->results;
}

CampaignResults straight_results() {
  MemoryStore store;
  REQUIRE(run_campaign(campaign_of(), store, [](const CampaignStep&) {}).ok());
  return store.results();
}

bool mentions(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("FileStore_ProcessKilledAtRandom_LosesNothingThatWasWritten" * doctest::test_suite("posix")) {
  const auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  const fs::path path = folder->path() / "store";
  const std::uint64_t seed = 42;
  MESSAGE("seed " << seed);
  Rng rng(seed);
  std::size_t kept = 0;
  int kills = 0;
  for (bool finished = false; !finished;) {
    REQUIRE(kills < 2000);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) ::_exit(run(path) == "finished" ? 0 : 1);
    // Longer and longer, so that a slow build finishes as well.
    const auto longest = std::uint64_t{6000} * static_cast<std::uint64_t>(1 + kills / 10);
    std::this_thread::sleep_for(std::chrono::microseconds(rng.below(longest)));
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    kills += WIFSIGNALED(status) ? 1 : 0;
    if (WIFEXITED(status)) REQUIRE(WEXITSTATUS(status) == 0);
    finished = WIFEXITED(status);
    const std::size_t now = results_in(path).size();
    CHECK(now >= kept);
    kept = now;
  }
  CHECK(kills > 3);
  CHECK(results_in(path) == straight_results());
}

TEST_CASE("FileStore_DiskFull_KeepsWhatIsThereAndGoesOn" * doctest::test_suite("posix")) {
  const auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  const fs::path path = folder->path() / "store";
  const fs::path said = folder->path() / "said";
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{5000, 5000};  // bytes of a file: a write beyond them is cut, the next one fails
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string message = run(path);
    (void)write_file(said, message);
    ::_exit(0);
  }
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  const std::string message = content(said);
  CHECK(mentions(message, "--store " + path.string() + ": "));
  CHECK(mentions(message, "repeat the command, which goes on from there"));
  const CampaignResults kept = results_in(path);
  CHECK(kept.size() > 5);
  CHECK(mentions(message, "its " + std::to_string(kept.size()) + " results are kept"));
  CHECK(content(path).ends_with("\n"));
  CHECK(run(path) == "finished");
  CHECK(results_in(path) == straight_results());
}

TEST_CASE("FileStore_TwoProcesses_TheSecondIsToldToWait") {
  const auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  const fs::path path = folder->path() / "store";
  {
    auto first = FileStore::open(path, definition);
    REQUIRE(first.ok());
    CHECK(mentions(run(path), "another process is writing it; wait until it has ended"));
  }
  CHECK(run(path) == "finished");
}

TEST_CASE("FileStore_RemovedCells_RunAgainAndTheLockStays") {
  const auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  const fs::path path = folder->path() / "store";
  REQUIRE(run(path) == "finished");
  {
    auto store = FileStore::open(path, definition);
    REQUIRE(store.ok());
    const std::vector<CampaignCell> cells = {{"pc/a", "3"}, {"pc/b", "59"}, {"pc/b", "none"}};
    REQUIRE(store->remove(cells).ok());
    CHECK(store->results().size() == 2 * items - 2);
    CHECK(results_in(path) == store->results());
    // The first result of a cell stays, and the file is not damaged by another.
    const CampaignCell first{"pc/a", "4"};
    REQUIRE(store->add(first, "\"later\"").ok());
    CHECK(store->results().at(first) == straight_results().at(first));
    CHECK(results_in(path) == store->results());
    CHECK(mentions(run(path), "another process is writing it"));
    // What is added afterwards is in the new file.
    REQUIRE(store->add(cells[0], straight_results().at(cells[0])).ok());
    CHECK(results_in(path) == store->results());
  }
  CHECK(run(path) == "finished");
  CHECK(results_in(path) == straight_results());
}

TEST_CASE("FileStore_LastLineCut_IsRunAgain") {
  const auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  const fs::path path = folder->path() / "store";
  REQUIRE(run(path) == "finished");
  const std::string whole = content(path);
  fs::resize_file(path, whole.size() - 17);
  CHECK(run(path) == "finished");
  CHECK(content(path) == whole);
  for (const std::size_t header : {std::size_t{0}, std::size_t{5}}) {
    fs::resize_file(path, header);
    CHECK(run(path) == "finished");
    CHECK(results_in(path) == straight_results());
  }
}

TEST_CASE("FileStore_OtherFiles_AreLeftAsTheyAre") {
  const auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  const fs::path path = folder->path() / "notes.txt";
  for (const std::string text : {"my notes", "my notes\nmore", "{\"format\":\"driftscope-campaign-9\"}\n"}) {
    REQUIRE(write_file(path, text).ok());
    CHECK(mentions(run(path), "--store " + path.string()));
    CHECK(content(path) == text);
  }
  CHECK(mentions(run(folder->path()), "name a file in a folder that can be written"));
  CHECK(mentions(run("/dev/null"), "not a regular file"));
  CHECK(mentions(run(folder->path() / "none" / "store"), "No such file or directory"));
}

}  // namespace driftscope::test::file_store_test
