// The store of a campaign in PostgreSQL, with a real server: one that crashes, hangs, or never comes back;
// passwords; rows that are hostile or damaged.
#include "native/campaign/postgres_store.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "core/base/rng.hpp"
#include "native/campaign/postgres_server.hpp"
#include "native/campaign/sql_campaign.hpp"
#include "native/campaign/store_support.hpp"

namespace driftscope::test::postgres_store_test {
namespace {

using namespace stores;
using namespace std::chrono_literals;

// Slow machines need long ones; each test that waits for one has its own.
constexpr PostgresTimes patient{.answer = 60s, .patience = 240s, .first_wait = 20ms, .longest_wait = 100ms};

#define DRIFTSCOPE_NEED_SERVER(server)                             \
  std::string why_not;                                             \
  PostgresServer* const server = PostgresServer::running(why_not); \
  if (server == nullptr) {                                         \
    MESSAGE("skipped: " << why_not);                               \
    return;                                                        \
  }

/// Of a campaign that no other test has.
CampaignDefinition fresh() {
  static int count = 0;
  return {"test", {{"seed", ++count}}, "build"};
}

std::unique_ptr<PostgresStore> opened(const std::string& url, const CampaignDefinition& of,
                                      const PostgresTimes& times = patient,
                                      PostgresConnection::Notice notice = {}) {
  auto store = PostgresStore::open(url, of, times, std::move(notice));
  REQUIRE_MESSAGE(store.ok(), store.error().message);
  return *std::move(store);
}

std::string error_of(const std::string& url, const PostgresTimes& times = patient) {
  const auto store = PostgresStore::open(url, definition, times);
  return store.ok() ? "none" : store.error().message;
}

PostgresConnection connected(const PostgresServer& server) {
  auto made = PostgresConnection::open(*read_store_url(server.url()), patient, {});
  REQUIRE_MESSAGE(made.ok(), made.error().message);
  return *std::move(made);
}

/// The first column of the last row.
std::string sql(PostgresConnection& connection, const std::string& statement) {
  std::string answer;
  const Status ran = connection.run(statement.c_str(), {}, [&](const PostgresConnection::Row& row) {
    answer = row[0].value_or("");
    return Status();
  });
  CHECK_MESSAGE(ran.ok(), ran.error().message);
  return answer;
}

}  // namespace

TEST_CASE("PostgresStore_TwoAtOnce_KeepTheFirstResultAndSeeEachOthers" * doctest::test_suite("posix")) {
  DRIFTSCOPE_NEED_SERVER(server);
  const CampaignDefinition of = fresh();
  const auto one = opened(server->url(), of);
  const auto two = opened(server->url(), of);
  const CampaignCell odd{"pc/'; DROP TABLE driftscope_results; --", "a\"b\\\n\xc3\xa4 $1 %s"};
  REQUIRE(one->add(cell(1), result_of(1)).ok());
  REQUIRE(two->add(cell(1), "\"later\"").ok());
  CHECK(two->results().at(cell(1)) == result_of(1));
  REQUIRE(two->add(odd, "[1.5,null,\"x'\\u0000\"]").ok());
  REQUIRE(one->refresh().ok());
  CHECK(one->results() == two->results());
  const auto beside = opened(server->url(), fresh());
  CHECK(beside->results().empty());
  REQUIRE(beside->add(cell(1), "true").ok());
  CHECK(opened(server->url(), of)->results() == one->results());
  const std::vector<CampaignCell> removed = {odd, cell(77)};
  REQUIRE(two->remove(removed).ok());
  CHECK(two->results().size() == 1);
  CHECK(opened(server->url(), of)->results() == two->results());
  CHECK(beside->results().size() == 1);
  CHECK(mentions(two->add({"pc/a", std::string(1025, 'x')}, "1").error().message, "has 1025 bytes"));
  CHECK(mentions(two->add({"pc/a", std::string("a\0b", 3)}, "1").error().message, "without a zero byte"));
  CHECK(two->add({std::string(1024, 'x'), std::string(1024, 'y')}, "1").ok());
}

TEST_CASE("PostgresStore_ManyAtOnce_DoubleNothing" * doctest::test_suite("posix")) {
  DRIFTSCOPE_NEED_SERVER(server);
  const CampaignDefinition of = fresh();
  std::vector<std::thread> threads;
  std::vector<std::string> errors(4);
  for (std::string& error : errors)
    threads.emplace_back([&, url = server->url()] {
      const auto store = PostgresStore::open(url, of, patient);
      if (!store.ok()) error = store.error().message;
      for (int item = 0; item < 60 && error.empty(); ++item)
        if (const Status added = (*store)->add(cell(item), result_of(item)); !added.ok())
          error = added.error().message;
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& error : errors) CHECK(error.empty());
  CHECK(opened(server->url(), of)->results() == results_to(60));
}

TEST_CASE("PostgresStore_TransactionThatEndsLate_IsReadByTheNextRefresh" * doctest::test_suite("posix")) {
  DRIFTSCOPE_NEED_SERVER(server);
  const CampaignDefinition of = fresh();
  const auto store = opened(server->url(), of);
  const auto other = opened(server->url(), of);
  PostgresConnection late = connected(*server);
  sql(late, "BEGIN");
  sql(late, "INSERT INTO driftscope_results (campaign, target, item, result) VALUES ('" +
                sql_campaign(of)->id + "', 'pc/strict', '0', '{\"class\":0}')");
  for (int item = 1; item < 5; ++item) REQUIRE(other->add(cell(item), result_of(item)).ok());
  REQUIRE(store->refresh().ok());
  CHECK(store->results().size() == 4);
  REQUIRE(store->refresh().ok());
  sql(late, "COMMIT");
  REQUIRE(store->refresh().ok());
  CHECK(store->results() == results_to(5));
}

TEST_CASE("PostgresStore_ServerThatCrashes_LosesAndDoublesNothing" * doctest::test_suite("posix")) {
  DRIFTSCOPE_NEED_SERVER(server);
  const CampaignDefinition of = fresh();
  constexpr int items = 400;
  std::atomic<int> added = 0;
  std::atomic<int> notices = 0;
  std::string error;
  std::thread worker([&, url = server->url()] {
    const auto store = PostgresStore::open(url, of, patient, [&](const std::string&) { ++notices; });
    if (!store.ok()) error = store.error().message;
    for (int item = 0; item < items && error.empty(); ++item) {
      if (const Status kept = (*store)->add(cell(item), result_of(item)); !kept.ok())
        error = kept.error().message;
      added = item + 1;
      std::this_thread::sleep_for(1ms);
    }
    added = items;
  });
  const std::uint64_t seed = 42;
  MESSAGE("seed " << seed);
  Rng rng(seed);
  int crashes = 0;
  for (const int signal : {SIGKILL, SIGQUIT, SIGKILL}) {
    const int until = added + 20 + static_cast<int>(rng.below(60));
    while (added < until && added < items) std::this_thread::sleep_for(1ms);
    if (added >= items) break;
    server->crash(signal);
    ++crashes;
    if (!server->start()) break;
  }
  worker.join();
  CHECK_MESSAGE(error.empty(), error);
  CHECK(crashes == 3);
  CHECK(notices >= 3);
  CHECK(opened(server->url(), of)->results() == results_to(items));
}

TEST_CASE("PostgresStore_ServerThatNeverComesBack_IsAnErrorThatSaysWhatIsKept" *
          doctest::test_suite("posix")) {
  DRIFTSCOPE_NEED_SERVER(server);
  const CampaignDefinition of = fresh();
  std::string said;
  const auto store = opened(server->url(), of, {.answer = 5s, .patience = 700ms, .first_wait = 50ms},
                            [&](const std::string& what) { said += what; });
  for (int item = 0; item < 3; ++item) REQUIRE(store->add(cell(item), result_of(item)).ok());
  server->crash(SIGKILL);
  const Status added = store->add(cell(3), result_of(3));
  REQUIRE_FALSE(added.ok());
  CHECK(added.error().kind == ErrorKind::io);
  CHECK(mentions(added.error().message, "could not be made again within 0.7 s"));
  CHECK(mentions(added.error().message, "its 3 results are kept in the database: repeat the command"));
  CHECK(mentions(said, "trying to connect again for 0.7 s"));
  CHECK(store->results().size() == 3);
  REQUIRE(server->start());
  CHECK(store->add(cell(3), result_of(3)).ok());
  CHECK(opened(server->url(), of)->results() == results_to(4));
}

TEST_CASE("PostgresStore_ServerThatHangs_IsGivenUpOrGoesOn" * doctest::test_suite("posix")) {
  DRIFTSCOPE_NEED_SERVER(server);
  const CampaignDefinition of = fresh();
  const auto hurried = opened(server->url(), of, {.answer = 2s, .patience = 1s, .first_wait = 50ms});
  const auto store = opened(server->url(), of, {.answer = 2s, .patience = 240s, .first_wait = 50ms});
  REQUIRE(hurried->add(cell(0), result_of(0)).ok());
  server->pause();
  const auto before = std::chrono::steady_clock::now();
  const Status added = hurried->add(cell(1), result_of(1));
  CHECK_FALSE(added.ok());
  if (!added.ok()) CHECK(mentions(added.error().message, "it does not answer for 2 s"));
  CHECK(std::chrono::steady_clock::now() - before < 60s);
  CHECK_MESSAGE(mentions(error_of(server->url(), {.answer = 300ms}), "it does not answer for 0.3 s"), "open");
  std::thread later([&] {
    std::this_thread::sleep_for(3s);
    server->go_on();
  });
  const Status resumed = store->add(cell(1), result_of(1));
  later.join();
  CHECK_MESSAGE(resumed.ok(), resumed.error().message);
  CHECK(hurried->add(cell(2), result_of(2)).ok());
  CHECK(opened(server->url(), of)->results() == results_to(3));
}

TEST_CASE("PostgresStore_Passwords_AreUsedAndNeverShown" * doctest::test_suite("posix")) {
  DRIFTSCOPE_NEED_SERVER(server);
  CHECK(error_of(server->tcp_url("s3cret-p%40ss")) == "none");
  CHECK(error_of(server->tcp_url("") + "?password=s3cret-p%40ss") == "none");
  const std::string wrong = error_of(server->tcp_url("wr0ng-one"));
  CHECK_MESSAGE(mentions(wrong, "password authentication failed for user"), wrong);
  CHECK(mentions(wrong, "--store " + server->tcp_url("") + ": "));
  CHECK(mentions(wrong, "passwords are read from $PGPASSWORD and ~/.pgpass"));
  CHECK_FALSE(mentions(wrong, "wr0ng-one"));
  ::setenv("PGPASSWORD", PostgresServer::password, 1);
  CHECK(error_of(server->tcp_url("")) == "none");
  ::unsetenv("PGPASSWORD");
  CHECK(mentions(error_of(server->tcp_url("")), "no password supplied"));
  for (const std::string more :
       {"x", "?sslmode=odd", "?bad=1", "?host=127.0.0.1&port=x", "?target_session_attrs=odd"}) {
    const std::string message = error_of(server->tcp_url("s3cret-p%40ss") + more);
    CHECK(message != "none");
    CHECK_FALSE_MESSAGE(mentions(message, "s3cret"), message);
  }
  const auto store = opened(server->tcp_url("s3cret-p%40ss"), fresh(), {.answer = 5s, .patience = 100ms});
  server->crash(SIGKILL);
  CHECK_FALSE(mentions(store->add(cell(1), result_of(1)).error().message, "s3cret"));
  CHECK(mentions(error_of(server->tcp_url("s3cret-p%40ss")), "check that the server runs"));
  CHECK_FALSE(mentions(error_of(server->tcp_url("s3cret-p%40ss")), "s3cret"));
}

TEST_CASE("PostgresStore_DamagedRowsAndTables_AreNamed" * doctest::test_suite("posix")) {
  DRIFTSCOPE_NEED_SERVER(server);
  const CampaignDefinition of = fresh();
  const auto store = opened(server->url(), of);
  PostgresConnection other = connected(*server);
  const std::string campaign = sql_campaign(of)->id;
  for (const std::string row : {"'pc/a', '1', '{\"class\":'", "'pc/a', '1', '1,\"more\":2'", "'', '1', '1'",
                                "'pc/a', repeat('x', 1100), '1'", "'pc/a', '1', repeat('[', 200)",
                                "'pc/a', '1', '\"' || repeat('x', 70000000) || '\"'"}) {
    const std::string number =
        sql(other, "INSERT INTO driftscope_results (campaign, target, item, result) VALUES ('" + campaign +
                       "', " + row + ") RETURNING number");
    const auto read = PostgresStore::open(server->url(), of, patient);
    REQUIRE_FALSE(read.ok());
    CHECK_MESSAGE(mentions(read.error().message, "row " + number + " of driftscope_results is damaged: it "),
                  read.error().message);
    CHECK_FALSE(store->refresh().ok());
    sql(other, "DELETE FROM driftscope_results WHERE number = " + number);
    CHECK(store->refresh().ok());
  }
  sql(other, "UPDATE driftscope_campaigns SET definition = 'x' WHERE id = '" + campaign + "'");
  CHECK(mentions(PostgresStore::open(server->url(), of, patient).error().message, "is damaged"));
  sql(other, "UPDATE driftscope_schema SET version = 2");
  CHECK(mentions(error_of(server->url()), "was made by a newer Driftscope (schema 2, this one knows 1)"));
  sql(other, "UPDATE driftscope_schema SET version = 1");
  CHECK(error_of(server->url()) == "none");
}

}  // namespace driftscope::test::postgres_store_test
