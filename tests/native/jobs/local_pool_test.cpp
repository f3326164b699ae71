// Jobs as processes here: what they write and say, what is too long or crashes, and that nothing is left.
#include "native/jobs/local_pool.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "native/os/files.hpp"

namespace driftscope::test::local_pool_test {
namespace {

namespace fs = std::filesystem;

/// A pool whose program is a script of the shell: a job's arguments are $1, $2, …
std::unique_ptr<LocalPool> pool_of(const std::string& script, std::size_t at_a_time = 1) {
  LocalPool::Options options;
  options.at_a_time = at_a_time;
  options.program = {"sh", "-c", script, "sh"};
  options.environment = {{"OF_THE_POOL", "yes"}};
  auto pool = LocalPool::make(std::move(options));
  REQUIRE_MESSAGE(pool.ok(), pool.error().message);
  return *std::move(pool);
}

ProgramJob job_with(std::int64_t id, std::vector<std::string> arguments) {
  ProgramJob job;
  job.id = id;
  job.arguments = std::move(arguments);
  return job;
}

std::vector<ProgramJobResult> all_of(LocalPool& pool, std::size_t count) {
  std::vector<ProgramJobResult> results;
  for (int i = 0; i < 600 && results.size() < count; ++i) {
    auto ended = pool.wait(std::chrono::milliseconds(100));
    REQUIRE(ended.ok());
    for (ProgramJobResult& one : *ended) results.push_back(std::move(one));
  }
  std::ranges::sort(results, {}, &ProgramJobResult::id);
  REQUIRE(results.size() == count);
  return results;
}

}  // namespace

TEST_CASE("LocalPool_JobsThatEnd_GiveWhatTheyWroteAndSaid") {
  const auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  const fs::path file = folder->path() / "in put.txt";
  REQUIRE(write_file(file, std::string_view("from the file")).ok());
  const auto pool =
      pool_of("cat \"$2\" > \"$1\"; echo table; echo \"driftscope: a note $OF_THE_POOL\" >&2; exit $3", 2);
  ProgramJob first = job_with(7, {"@{result}", "@{a/in.txt}", "1"});
  first.files["a/in.txt"] = file;
  REQUIRE(pool->submit(std::move(first)).ok());
  CHECK(pool->room() == 1);
  ProgramJob second = job_with(8, {"@{result}", "@{data}/in put.txt", "0"});
  second.folders["data"] = folder->path();
  REQUIRE(pool->submit(std::move(second)).ok());
  CHECK(pool->room() == 0);
  const auto results = all_of(*pool, 2);
  CHECK(results[0].id == 7);
  CHECK(results[0].exit_code == 1);
  CHECK(results[1].exit_code == 0);
  for (const ProgramJobResult& result : results) {
    CHECK_FALSE(result.error);
    CHECK(result.result == "from the file");
    CHECK(result.errors == "a note yes");
  }
  CHECK(pool->room() == 2);
}

TEST_CASE("LocalPool_AJobThatIsTooLong_IsEndedWithAllThatItStarted") {
  const auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  const fs::path beat = folder->path() / "beat";
  const auto pool = pool_of("(while :; do date +%N > \"$1\"; sleep 0.05; done) & wait");
  ProgramJob job = job_with(1, {beat.string()});
  job.limit = std::chrono::seconds(1);
  REQUIRE(pool->submit(std::move(job)).ok());
  const auto results = all_of(*pool, 1);
  REQUIRE(results[0].error);
  CHECK(results[0].error->kind == ErrorKind::limit);
  CHECK(results[0].error->message.starts_with("it was ended after 1 s"));
  const auto last = fs::last_write_time(beat);
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  CHECK(fs::last_write_time(beat) == last);
}

TEST_CASE("LocalPool_AJobThatCrashes_IsAnErrorWithItsLastWords") {
  const auto pool = pool_of("echo half > \"$1\"; echo 'driftscope: last words' >&2; kill -9 $$");
  REQUIRE(pool->submit(job_with(1, {"@{result}"})).ok());
  const auto results = all_of(*pool, 1);
  REQUIRE(results[0].error);
  CHECK(results[0].error->kind == ErrorKind::internal);
  CHECK(results[0].error->message == "its process was killed by signal 9 (Killed); last words");
  CHECK_FALSE(results[0].exit_code);
  CHECK(results[0].result.empty());  // what a dying process left is no result
}

TEST_CASE("LocalPool_APoolThatGoes_EndsItsJobs") {
  const auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  const fs::path beat = folder->path() / "beat";
  {
    const auto pool = pool_of("while :; do date +%N > \"$1\"; sleep 0.05; done");
    REQUIRE(pool->submit(job_with(1, {beat.string()})).ok());
    for (int i = 0; i < 200 && !fs::exists(beat); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    REQUIRE(fs::exists(beat));
  }
  const auto last = fs::last_write_time(beat);
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  CHECK(fs::last_write_time(beat) == last);
}

TEST_CASE("Jobs_ArgumentsThatNameNoFile_AreAnInternalError") {
  const auto placed = placed_arguments(job_with(1, {"a@{x}b@{y}"}), {{"x", "1"}, {"y", "2"}});
  REQUIRE(placed.ok());
  CHECK(*placed == std::vector<std::string>{"a1b2"});
  CHECK_FALSE(placed_arguments(job_with(1, {"@{z}"}), {{"x", "1"}}).ok());
  CHECK_FALSE(placed_arguments(job_with(1, {"@{x"}), {{"x", "1"}}).ok());
}

TEST_CASE("Jobs_Messages_AreThoseOfTheProgramElseTheLastLines") {
  CHECK(messages_in("table\ndriftscope: one\nmore\ndriftscope: two\n") == "one; two");
  CHECK(messages_in("1\n2\n\n3\n4\n5\n6\n7") == "3 | 4 | 5 | 6 | 7");
  CHECK(messages_in("").empty());
  CHECK(messages_in("driftscope: " + std::string(10'000, 'x')).size() == 4000);
}

}  // namespace driftscope::test::local_pool_test
