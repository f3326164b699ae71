#include "native/campaign/sqlite_connection.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <string_view>
#include <thread>

#include "core/base/text.hpp"
#include "native/campaign/sql_campaign.hpp"
#include "native/campaign/sqlite_statement.hpp"

namespace driftscope {
namespace {

using namespace std::chrono_literals;

constexpr const char* sqlite_tables = R"sql(
  CREATE TABLE driftscope_schema (version INTEGER NOT NULL, locks TEXT NOT NULL);
  CREATE TABLE driftscope_campaigns (
    id TEXT PRIMARY KEY NOT NULL,
    definition TEXT NOT NULL,
    begun TEXT NOT NULL           -- UTC, ISO 8601
  );
  CREATE TABLE driftscope_results (
    number INTEGER PRIMARY KEY AUTOINCREMENT,  -- in the order in which rows were added; none is used twice
    campaign TEXT NOT NULL,
    target TEXT NOT NULL,
    item TEXT NOT NULL,
    result TEXT NOT NULL,
    added TEXT NOT NULL,
    UNIQUE (campaign, target, item)
  );
  CREATE INDEX driftscope_results_of_a_campaign ON driftscope_results (campaign, number);
)sql";

/// Of one that has a write-ahead log, whatever this build of SQLite makes of it.
bool begins_like_one_with_a_log(const std::filesystem::path& path) {
  char header[20] = {};
  std::ifstream file(path, std::ios::binary);
  file.read(header, sizeof header);
  return file.gcount() == sizeof header && std::string_view(header, 15) == "SQLite format 3" &&
         header[18] == 2 && header[19] == 2;
}

std::string hint(int code, std::chrono::milliseconds longest_lock) {
  switch (code) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fmt::format("; another process has had it locked for {:g} s: repeat the command when that ends",
                         std::chrono::duration<double>(longest_lock).count());
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT: return "; it is left as it is: name another file";
    case SQLITE_TOOBIG: return "; a row of it is larger than a result may be: name another file";
    case SQLITE_FULL: return "; make room on its disk";
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY: return "; name a file in a folder that can be written";
    default: return "";
  }
}

}  // namespace

Result<std::unique_ptr<SqliteConnection>> SqliteConnection::open(const std::filesystem::path& path,
                                                                 std::chrono::milliseconds longest_lock) {
  std::unique_ptr<SqliteConnection> made(new SqliteConnection(path, longest_lock));
  DRIFTSCOPE_CHECK(made->open());
  return made;
}

SqliteConnection::~SqliteConnection() { sqlite3_close(connection_); }

Error SqliteConnection::in_file(Error error) const {
  return in_context(std::move(error), "--store sqlite:" + path_.string());
}

Error SqliteConnection::failure() const {
  const int code = sqlite3_errcode(connection_) & 0xff;
  if (code == SQLITE_NOTADB && begins_like_one_with_a_log(path_))
    return in_file(unsupported(
        "was begun by the native program, whose locks the one for Node does not know; name another "
        "file"));
  const std::string said = sqlite3_errmsg(connection_);
  return in_file(io_error(fmt::format("{}{}", said, hint(code, longest_lock_))));
}

Status SqliteConnection::execute(const char* sql) {
  return sqlite3_exec(connection_, sql, nullptr, nullptr, nullptr) == SQLITE_OK ? Status()
                                                                                : Status(failure());
}

Status SqliteConnection::transact(const std::function<Status()>& work) {
  DRIFTSCOPE_CHECK(execute("BEGIN IMMEDIATE"));
  Status done = work();
  if (done.ok()) done = execute("COMMIT");
  if (!done.ok()) (void)execute("ROLLBACK");
  return done;
}

Status SqliteConnection::open() {
  struct stat status{};
  if (::stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return in_file(bad_input("not a regular file; name another"));
  // Names that SQLite takes for something else (":memory:", "file:…") are files here.
  const std::string name = path_.is_absolute() ? path_.string() : "./" + path_.string();
  if (sqlite3_open_v2(name.c_str(), &connection_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr) !=
      SQLITE_OK)
    return failure();
  sqlite3_busy_timeout(connection_, static_cast<int>(longest_lock_.count()));
  // The file may come from others: nothing in its schema runs (https://sqlite.org/security.html).
  sqlite3_db_config(connection_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(connection_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(connection_, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(connection_, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_limit(connection_, SQLITE_LIMIT_LENGTH, static_cast<int>(longest_stored_result + (1 << 20)));
  DRIFTSCOPE_CHECK(execute("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0"));
  DRIFTSCOPE_TRY(const bool known, has_tables());
  if (known) DRIFTSCOPE_CHECK(check_tables());
  DRIFTSCOPE_CHECK(begin_log());
  if (known) return {};
  return make_tables();
}

Result<bool> SqliteConnection::has_tables() {
  SqliteStatement select(connection_, "SELECT 1 FROM sqlite_schema WHERE name = 'driftscope_schema'");
  const int code = select.step();
  if (code != SQLITE_ROW && code != SQLITE_DONE) return failure();
  return code == SQLITE_ROW;
}

Status SqliteConnection::check_tables() {
  SqliteStatement select(connection_, "SELECT max(version), max(locks) FROM driftscope_schema");
  if (select.step() != SQLITE_ROW) return failure();
  if (const Status checked = check_sql_schema(select.whole(0)); !checked.ok())
    return in_file(checked.error());
  if (select.text(1) == sqlite_locks()) return {};
  return in_file(unsupported(fmt::format(
      "was begun by a program with other locks ({}, this one has those of {}): the native program "
      "and the one for Node cannot share a database; name another file",
      in_quotes(select.text(1)), sqlite_locks())));
}

// Readers do not wait for writers, and only some transactions wait for the disk. On some file systems, and
// under Node, there is none: then each transaction is on the disk when it ends.
Status SqliteConnection::begin_log() {
  const auto end = std::chrono::steady_clock::now() + longest_lock_;
  while (true) {
    SqliteStatement pragma(connection_, "PRAGMA journal_mode = WAL");
    const int code = pragma.step();
    if (code == SQLITE_ROW) {
      has_log_ = pragma.text(0) == "wal";
      break;
    }
    // SQLite does not wait here for another process that begins it.
    if (code != SQLITE_BUSY || std::chrono::steady_clock::now() >= end) return failure();
    std::this_thread::sleep_for(20ms);
  }
  return execute(has_log_ ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = EXTRA");
}

Status SqliteConnection::make_tables() {
  DRIFTSCOPE_CHECK(flush_with_next(true));
  DRIFTSCOPE_CHECK(transact([&]() -> Status {
    // Another process may have made them meanwhile.
    DRIFTSCOPE_TRY(const bool made, has_tables());
    if (made) return check_tables();
    DRIFTSCOPE_CHECK(execute(sqlite_tables));
    return execute(
        fmt::format("INSERT INTO driftscope_schema VALUES ({}, '{}')", sql_store_schema, sqlite_locks())
            .c_str());
  }));
  return flush_with_next(false);
}

Status SqliteConnection::flush_with_next(bool flush) {
  if (!has_log_) return {};
  return execute(flush ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
}

void SqliteConnection::flush() {
  if (has_log_)
    (void)sqlite3_wal_checkpoint_v2(connection_, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
}

}  // namespace driftscope
