// The store of a campaign in an SQLite database: processes side by side, killed ones, files that are damaged
// or are something else.
#include "native/campaign/sqlite_store.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/base/rng.hpp"
#include "native/campaign/sql_campaign.hpp"
#include "native/campaign/store_support.hpp"
#include "native/os/files.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope::test::sqlite_store_test {
namespace {

namespace fs = std::filesystem;
using namespace stores;

std::unique_ptr<SqliteStore> opened(const fs::path& path, const CampaignDefinition& of = definition) {
  auto store = SqliteStore::open(path, of);
  REQUIRE_MESSAGE(store.ok(), store.error().message);
  return *std::move(store);
}

std::string error_of(const fs::path& path,
                     std::chrono::milliseconds longest_lock = std::chrono::seconds(30)) {
  const auto store = SqliteStore::open(path, definition, longest_lock);
  return store.ok() ? "none" : store.error().message;
}

/// Another program's access to the file; the first column of the first row.
std::string sql(const fs::path& path, const std::string& statement) {
  sqlite3* database = nullptr;
  std::string answer;
  REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
  const auto take = [](void* to, int, char** values, char**) {
    if (values[0] != nullptr) *static_cast<std::string*>(to) = values[0];
    return 0;
  };
  char* error = nullptr;
  CHECK_MESSAGE(sqlite3_exec(database, statement.c_str(), take, &answer, &error) == SQLITE_OK,
                (error != nullptr ? error : ""));
  sqlite3_free(error);
  sqlite3_close(database);
  return answer;
}

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Adds the cells up to `items` that are missing, and says after each, on the pipe, that it is kept.
void add_all(const fs::path& path, int items, int acknowledge) {
  const auto store = SqliteStore::open(path, definition);
  if (!store.ok()) ::_exit(3);
  for (int item = 0; item < items; ++item) {
    if ((*store)->results().contains(cell(item))) continue;
    if (!(*store)->add(cell(item), result_of(item)).ok()) ::_exit(4);
    if (::write(acknowledge, &item, sizeof item) != sizeof item) ::_exit(5);
  }
}

}  // namespace

TEST_CASE("SqliteStore_OpenedAgain_HasItsResultsAndNoOthers") {
  const auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  const fs::path path = folder->path() / "results.db";
  const CampaignCell odd{"pc/'; DROP TABLE driftscope_results; --", "a\"b\\\n\xc3\xa4"};
  {
    const auto store = opened(path);
    for (int item = 0; item < 20; ++item) CHECK(store->add(cell(item), result_of(item)).ok());
    CHECK(store->add(odd, "[1.5,null,\"x'\"]").ok());
    CHECK(opened(path, other_definition)->results().empty());
    CHECK(opened(path, other_definition)->add(cell(3), "true").ok());
  }
  CampaignResults wanted = results_to(20);
  wanted.emplace(odd, "[1.5,null,\"x'\"]");
  CHECK(opened(path)->results() == wanted);
  CHECK(opened(path, other_definition)->results() == CampaignResults{{cell(3), "true"}});
  CHECK(sql(path, "SELECT count(*) FROM driftscope_campaigns") == "2");
  CHECK(sql(path, "SELECT id FROM driftscope_campaigns ORDER BY begun, rowid") ==
        sql_campaign(other_definition)->id);
}

TEST_CASE("SqliteStore_TwoAtOnce_KeepTheFirstResultAndSeeEachOthers") {
  const auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  const fs::path path = folder->path() / "results.db";
  const auto one = opened(path);
  const auto two = opened(path);
  REQUIRE(one->add(cell(1), result_of(1)).ok());
  CHECK(two->results().empty());
  REQUIRE(two->add(cell(1), "\"later\"").ok());
  CHECK(two->results().at(cell(1)) == result_of(1));
  REQUIRE(two->add(cell(2), result_of(2)).ok());
  REQUIRE(one->refresh().ok());
  CHECK(one->results() == two->results());
  CHECK(one->results().size() == 2);
  // Rows that it has are not read again: a damaged one among them does not matter.
  sql(path, "UPDATE driftscope_results SET result = 'x' WHERE item = '1'");
  REQUIRE(two->add(cell(3), result_of(3)).ok());
  REQUIRE(one->refresh().ok());
  CHECK(one->results().size() == 3);
  // A removed cell runs again, and its new row is not taken for one that was read.
  const std::vector<CampaignCell> removed = {cell(3), cell(77)};
  REQUIRE(two->remove(removed).ok());
  CHECK(two->results().size() == 2);
  REQUIRE(one->remove(removed).ok());
  REQUIRE(two->add(cell(3), "\"again\"").ok());
  REQUIRE(one->refresh().ok());
  CHECK(one->results().at(cell(3)) == "\"again\"");
}

TEST_CASE("SqliteStore_ManyThreads_DoubleNothing") {
  const auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  const fs::path path = folder->path() / "results.db";
  std::vector<std::thread> threads;
  std::vector<std::string> errors(4);
  for (std::string& error : errors)
    threads.emplace_back([&] {
      const auto store = SqliteStore::open(path, definition);
      if (!store.ok()) error = store.error().message;
      for (int item = 0; item < 60 && error.empty(); ++item)
        if (const Status added = (*store)->add(cell(item), result_of(item)); !added.ok())
          error = added.error().message;
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& error : errors) CHECK(error.empty());
  CHECK(opened(path)->results() == results_to(60));
  CHECK(sql(path, "SELECT count(*) FROM driftscope_results") == "60");
}

TEST_CASE("SqliteStore_ProcessKilledAtRandom_LosesNothingThatWasAdded" * doctest::test_suite("posix")) {
  const auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  const fs::path path = folder->path() / "results.db";
  const std::uint64_t seed = 42;
  MESSAGE("seed " << seed);
  Rng rng(seed);
  int acknowledged[2];
  REQUIRE(::pipe2(acknowledged, O_NONBLOCK) == 0);
  CampaignResults promised;
  int kills = 0;
  constexpr int items = 200;
  for (bool finished = false; !finished;) {
    REQUIRE(kills < 2000);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      add_all(path, items, acknowledged[1]);
      ::_exit(0);
    }
    const auto longest = std::uint64_t{12000} * static_cast<std::uint64_t>(1 + kills / 5);
    std::this_thread::sleep_for(std::chrono::microseconds(rng.below(longest)));
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    kills += WIFSIGNALED(status) ? 1 : 0;
    if (WIFEXITED(status)) REQUIRE(WEXITSTATUS(status) == 0);
    finished = WIFEXITED(status);
    for (int item = 0; ::read(acknowledged[0], &item, sizeof item) == sizeof item;)
      CHECK_MESSAGE(promised.emplace(cell(item), result_of(item)).second, "added twice");
    const auto store = opened(path);
    for (const auto& [one, result] : promised) REQUIRE(store->results().contains(one));
  }
  ::close(acknowledged[0]);
  ::close(acknowledged[1]);
  CHECK(kills > 3);
  CHECK(opened(path)->results() == results_to(items));
  CHECK(sql(path, "SELECT count(*) FROM driftscope_results") == std::to_string(items));
  CHECK(sql(path, "PRAGMA integrity_check") == "ok");
}

TEST_CASE("SqliteStore_OtherFiles_AreRefusedAndLeftAsTheyAre") {
  const auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  const fs::path notes = folder->path() / "notes.txt";
  const std::string text(5000, 'n');
  REQUIRE(write_file(notes, text).ok());
  CHECK(mentions(error_of(notes), "file is not a database; it is left as it is: name another file"));
  CHECK(content(notes) == text);
  CHECK(mentions(error_of(folder->path()), "not a regular file"));
  CHECK(mentions(error_of("/dev/null"), "not a regular file"));
  CHECK(mentions(error_of(folder->path() / "none" / "x.db"), "name a file in a folder that can be written"));
  CHECK(mentions(error_of(""), "names no file"));
}

TEST_CASE("SqliteStore_DamagedDatabase_IsAnErrorAndStays") {
  const auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  const fs::path path = folder->path() / "results.db";
  {
    const auto store = opened(path);
    for (int item = 0; item < 400; ++item) REQUIRE(store->add(cell(item), result_of(item)).ok());
  }
  const std::string whole = content(path);
  REQUIRE(whole.size() > 3 * 4096);
  Rng rng(7);
  int refused = 0;
  for (int round = 0; round < 40; ++round) {
    std::string bytes = whole;
    if (round % 2 == 0) bytes.resize(rng.below(bytes.size()));
    for (int change = 0; change < 200 && !bytes.empty(); ++change)
      bytes[rng.below(bytes.size())] = static_cast<char>(rng.below(256));
    REQUIRE(write_file(path, bytes).ok());
    for (const char* beside : {"-wal", "-shm"}) fs::remove(path.string() + beside);
    refused += error_of(path) != "none" ? 1 : 0;
  }
  CHECK(refused > 30);
  REQUIRE(write_file(path, whole).ok());
  for (const char* beside : {"-wal", "-shm"}) fs::remove(path.string() + beside);
  CHECK(opened(path)->results().size() == 400);
}

TEST_CASE("SqliteStore_DamagedRows_AreNamed") {
  const auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  const fs::path path = folder->path() / "results.db";
  const auto store = opened(path);
  const std::string campaign = sql_campaign(definition)->id;
  for (const std::string row : {
           "'pc/a', '1', '{\"class\":'",                          // no JSON
           "'pc/a', '1', '1,\"more\":2'",                         // more than a value
           "'pc/a', '1', '{\"a\":1,\"a\":2}'",                    // a key twice
           "'', '1', '1'",                                        // no name
           "x'ff', '1', '1'",                                     // no text
           "'pc/a', CAST(x'ff' AS TEXT), '1'",                    // no UTF-8
           "'pc/a', replace(hex(zeroblob(600)), '0', 'x'), '1'",  // 1200 bytes
           "'pc/a', '1', replace(hex(zeroblob(100)), '0', '[')",  // too deep
           "'pc/a', '1', zeroblob(70000000)",                     // larger than a row may be
           "'pc/a', '1', zeroblob(10)",
       }) {
    sql(path, "INSERT INTO driftscope_results (campaign, target, item, result, added) VALUES ('" + campaign +
                  "', " + row + ", '')");
    const std::string number = sql(path, "SELECT max(number) FROM driftscope_results");
    const std::string message = error_of(path);
    CHECK_MESSAGE((mentions(message, "row " + number + " of driftscope_results is damaged: it ") ||
                   mentions(message, "a row of it is larger than a result may be")),
                  row << ": " << message);
    CHECK(mentions(message, "--store sqlite:" + path.string() + ": "));
    CHECK_FALSE(store->refresh().ok());
    sql(path, "DELETE FROM driftscope_results WHERE number = " + number);
    CHECK(store->refresh().ok());
  }
  sql(path, "UPDATE driftscope_campaigns SET definition = 'x'");
  CHECK(mentions(error_of(path), "the definition of the campaign " + campaign + " is damaged"));
}

TEST_CASE("SqliteStore_TooLongToKeep_IsRefused") {
  const auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  const auto store = opened(folder->path() / "results.db");
  CHECK(mentions(store->add({"pc/a", std::string(1025, 'x')}, "1").error().message, "has 1025 bytes"));
  CHECK(mentions(store->add({"pc/a", std::string("a\0b", 3)}, "1").error().message, "without a zero byte"));
  CHECK(store->add({"pc/a", std::string(1024, 'x')}, "1").ok());
  CHECK(store->add(cell(1), '"' + std::string((64 << 20), 'x') + '"').error().kind == ErrorKind::limit);
  CHECK(store->add(cell(1), "{\"no JSON").error().kind == ErrorKind::internal);
  CHECK(store->results().size() == 1);
}

TEST_CASE("SqliteStore_NewerOrOtherPrograms_AreRefused") {
  const auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  const fs::path path = folder->path() / "results.db";
  opened(path);
  sql(path, "UPDATE driftscope_schema SET version = 2");
  CHECK(mentions(error_of(path), "was made by a newer Driftscope (schema 2, this one knows 1)"));
  sql(path, "UPDATE driftscope_schema SET version = 1, locks = 'other'");
  CHECK(mentions(error_of(path), "cannot share a database"));
  sql(path, "DELETE FROM driftscope_schema");
  CHECK(mentions(error_of(path), "driftscope_schema has no version"));
  // Tables of the names that are something else; what they would run is not run.
  const fs::path hostile = folder->path() / "hostile.db";
  sql(hostile,
      "CREATE TABLE driftscope_schema (version, locks); INSERT INTO driftscope_schema VALUES (1, 'system');"
      "CREATE VIEW driftscope_results AS SELECT 1 AS number;"
      "CREATE VIEW driftscope_campaigns AS SELECT 1 AS id");
  CHECK(error_of(hostile) != "none");
}

TEST_CASE("SqliteStore_Locked_IsWaitedForButNotForEver") {
  const auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  const fs::path path = folder->path() / "results.db";
  const auto store = *SqliteStore::open(path, definition, std::chrono::milliseconds(100));
  sqlite3* other = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &other) == SQLITE_OK);
  REQUIRE(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) == SQLITE_OK);
  const std::string message = store->add(cell(1), result_of(1)).error().message;
  CHECK(mentions(message, "database is locked; another process has had it locked for 0.1 s"));
  CHECK(mentions(message, "its 0 results are kept: repeat the command"));
  REQUIRE(sqlite3_exec(other, "COMMIT", nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(other);
  CHECK(store->add(cell(1), result_of(1)).ok());
}

TEST_CASE("SqliteStore_FolderThatCannotBeWritten_SaysSo" * doctest::test_suite("posix")) {
  const auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  const fs::path inside = folder->path() / "inside";
  REQUIRE(fs::create_directory(inside));
  const fs::path there = inside / "there.db";
  opened(there);
  for (const char* beside : {"-wal", "-shm"}) fs::remove(there.string() + beside);
  REQUIRE(::chmod(folder->path().c_str(), 0755) == 0);
  REQUIRE(::chmod(inside.c_str(), 0555) == 0);
  REQUIRE(::chmod(there.c_str(), 0444) == 0);
  int said[2];
  REQUIRE(::pipe(said) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    // Root may write everywhere.
    if (::getuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(1);
    const std::string text = error_of(inside / "new.db") + "|" + error_of(there);
    ::_exit(::write(said[1], text.data(), text.size()) > 0 ? 0 : 1);
  }
  ::close(said[1]);
  std::string text(4000, '\0');
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(said[0], text.data(), text.size()))));
  ::close(said[0]);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  ::chmod(inside.c_str(), 0755);
  const std::size_t bar = text.find('|');
  REQUIRE(bar != std::string::npos);
  CHECK_MESSAGE(mentions(text.substr(0, bar), "name a file in a folder that can be written"), text);
  CHECK_MESSAGE(mentions(text.substr(bar), "name a file in a folder that can be written"), text);
}

}  // namespace driftscope::test::sqlite_store_test
