#include "native/bench/history.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <tuple>

#include "core/base/json.hpp"
#include "native/campaign/sqlite_statement.hpp"
#include "native/os/folders.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

constexpr int schema_version = 1;
constexpr int lock_timeout_ms = 5000;

constexpr const char* schema = R"sql(
  CREATE TABLE benches (
    id INTEGER PRIMARY KEY,
    time TEXT NOT NULL,            -- UTC, ISO 8601
    machine TEXT NOT NULL,         -- processor and cores: figures are comparable within one
    machine_json TEXT NOT NULL
  );
  CREATE TABLE results (
    bench INTEGER NOT NULL REFERENCES benches (id),
    build TEXT NOT NULL,           -- of what computes: this program, or the engine in the browser
    model TEXT NOT NULL,
    model_sha256 TEXT NOT NULL,
    target TEXT NOT NULL,
    batch INTEGER NOT NULL,
    capture TEXT NOT NULL,
    browser_version TEXT NOT NULL, -- "" on the pc
    median_ns REAL NOT NULL,
    low_ns REAL,                   -- the interval of the median; NULL: too few rounds
    high_ns REAL,
    p95_ns REAL NOT NULL,
    min_ns REAL NOT NULL,
    runs INTEGER NOT NULL,
    load_ms REAL NOT NULL,
    first_ms REAL NOT NULL,
    wasm_heap_peak_bytes INTEGER,
    process_peak_bytes INTEGER,
    download_bytes INTEGER,
    ran TEXT NOT NULL              -- JSON
  );
  CREATE INDEX results_of_a_series ON results (model_sha256, target);
)sql";

std::string json_text_field(const std::string& text, const char* key) {
  const auto object = parse_json(text);
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() && found->is_string() ? found->get<std::string>()
                                                                           : std::string();
}

std::string machine_name(const std::string& machine) {
  const auto object = parse_json(machine);
  if (!object.is_object()) return "unknown";
  return fmt::format("{} × {}", object.value("cpu", "unknown"), object.value("cores", 0));
}

using Statement = SqliteStatement;

/// NULL for what is not known.
void bind_known(Statement& statement, std::int64_t number) {
  number > 0 ? statement.bind(number) : statement.bind_null();
}

bool fits(const std::vector<std::string>& wanted, const std::string& name) {
  return wanted.empty() || std::ranges::any_of(wanted, [&](const std::string& one) {
           return one == name || fs::path(one).stem().string() == name;
         });
}

}  // namespace

struct History::State {
  fs::path file;
  sqlite3* connection = nullptr;

  ~State() { sqlite3_close(connection); }

  [[nodiscard]] Error failure() const {
    const int code = sqlite3_errcode(connection);
    std::string hint;
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
      hint = "; another process has locked it, try again when that has ended";
    if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
      hint = "; move it away, or name another file with --db";
    return io_error(fmt::format("history {}: {}{}", file.string(), sqlite3_errmsg(connection), hint));
  }

  Status execute(const char* sql) {
    if (sqlite3_exec(connection, sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
    return failure();
  }

  Result<std::int64_t> version() {
    Statement statement(connection, "PRAGMA user_version");
    if (statement.step() != SQLITE_ROW) return failure();
    return statement.whole(0);
  }

  /// `work` in one transaction: all of it or nothing.
  template <class Work>
  Status transact(const Work& work) {
    DRIFTSCOPE_CHECK(execute("BEGIN IMMEDIATE"));
    Status done = work();
    if (done.ok()) done = execute("COMMIT");
    if (!done.ok()) (void)execute("ROLLBACK");
    return done;
  }

  Status make_schema() {
    return transact([&]() -> Status {
      // Another process may have made it meanwhile.
      DRIFTSCOPE_TRY(const std::int64_t now, version());
      if (now != 0) return {};
      DRIFTSCOPE_CHECK(execute(schema));
      return execute(fmt::format("PRAGMA user_version = {}", schema_version).c_str());
    });
  }

  Status add_result(std::int64_t bench, const BenchRow& row, double confidence) {
    const BenchFigures figures = bench_figures(row, confidence);
    Statement insert(connection, "INSERT INTO results VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    insert.bind(bench);
    insert.bind(row.build);
    insert.bind(row.model);
    insert.bind(row.model_sha256);
    insert.bind(row.target);
    insert.bind(row.batch);
    insert.bind(row.capture);
    insert.bind(json_text_field(row.ran, "browser_version"));
    insert.bind(figures.median.value);
    if (figures.median.interval) {
      insert.bind(figures.median.interval->low);
      insert.bind(figures.median.interval->high);
    } else {
      insert.bind_null();
      insert.bind_null();
    }
    insert.bind(figures.p95);
    insert.bind(figures.min);
    insert.bind(figures.runs);
    insert.bind(row.load_ms);
    insert.bind(row.first_ms);
    bind_known(insert, row.wasm_heap_peak_bytes);
    bind_known(insert, row.process_peak_bytes);
    bind_known(insert, row.download.bytes);
    insert.bind(row.ran);
    if (insert.step() != SQLITE_DONE) return failure();
    return {};
  }
};

fs::path History::default_place() {
  const auto from = [](const char* variable) {
    const char* value = std::getenv(variable);
    return value ? fs::path(value) : fs::path();
  };
  fs::path folder = from("XDG_DATA_HOME");
  if (!folder.is_absolute()) {  // the XDG specification says to ignore relative ones
    folder = from("HOME");
    if (folder.empty()) return {};
    folder /= ".local/share";
  }
  return folder / "driftscope" / file_name();
}

Result<History> History::open(const fs::path& file) {
  if (const Status made = make_folders(folder_of(file)); !made.ok())
    return in_context(made.error(), fmt::format("history {}", file.string()));
  auto state = std::make_unique<State>();
  state->file = file;
  if (sqlite3_open_v2(file.c_str(), &state->connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                      nullptr) != SQLITE_OK)
    return state->failure();
  sqlite3_busy_timeout(state->connection, lock_timeout_ms);
  // What is reported as saved survives a loss of power: the folder is flushed after a commit, too
  // (https://sqlite.org/pragma.html#pragma_synchronous).
  DRIFTSCOPE_CHECK(state->execute("PRAGMA synchronous = EXTRA"));
  DRIFTSCOPE_TRY(const std::int64_t version, state->version());
  if (version > schema_version)
    return bad_input(
        fmt::format("history {}: it was made by a newer Driftscope (schema {}, this one knows {}); "
                    "name another file with --db",
                    file.string(), version, schema_version));
  if (version == 0) DRIFTSCOPE_CHECK(state->make_schema());
  return History(std::move(state));
}

History::History(std::unique_ptr<State> state) : state_(std::move(state)) {}
History::History(History&&) noexcept = default;
History::~History() = default;

Status History::add(const BenchReport& report) {
  return state_->transact([&]() -> Status {
    Statement insert(state_->connection,
                     "INSERT INTO benches (time, machine, machine_json) VALUES "
                     "(strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?, ?)");
    insert.bind(machine_name(report.machine));
    insert.bind(report.machine);
    if (insert.step() != SQLITE_DONE) return state_->failure();
    const std::int64_t bench = sqlite3_last_insert_rowid(state_->connection);
    for (const BenchRow& row : report.rows)
      // What computes in another build has an id that this one cannot know.
      if (row.measured() && row.reference.empty())
        DRIFTSCOPE_CHECK(state_->add_result(bench, row, report.limits.confidence));
    return {};
  });
}

Result<std::vector<HistorySeries>> History::read(const HistoryFilter& filter) {
  Statement select(state_->connection,
                   "SELECT model, model_sha256, target, batch, capture, machine, browser_version, "
                   "build, median_ns, time FROM results JOIN benches ON bench = benches.id "
                   "ORDER BY benches.id");
  using Key =
      std::tuple<std::string, std::string, std::string, std::int64_t, std::string, std::string, std::string>;
  std::map<Key, HistorySeries> all;
  int code = select.step();
  for (; code == SQLITE_ROW; code = select.step()) {
    HistorySeries about{select.text(0),
                        select.text(1),
                        select.text(2),
                        select.whole(3),
                        select.text(4),
                        select.text(5),
                        select.text(6),
                        {},
                        {}};
    const double median_ns = select.real(8);
    if (!fits(filter.models, about.model) || !fits(filter.targets, about.target) || !(median_ns > 0.0))
      continue;
    const Key key{about.model,   about.model_sha256, about.target,         about.batch,
                  about.capture, about.machine,      about.browser_version};
    HistorySeries& series = all.try_emplace(key, std::move(about)).first->second;
    const std::string build = select.text(7);
    auto found = std::ranges::find(series.builds, build, &BuildTimes::build);
    if (found == series.builds.end()) {
      series.builds.push_back({build, {}});
      series.first_seen.push_back(select.text(9));
      found = series.builds.end() - 1;
    }
    found->medians_ns.push_back(median_ns);
  }
  if (code != SQLITE_DONE) return state_->failure();
  std::vector<HistorySeries> list;
  for (auto& [key, series] : all) list.push_back(std::move(series));
  return list;
}

}  // namespace driftscope
