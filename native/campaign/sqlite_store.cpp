#include "native/campaign/sqlite_store.hpp"

#include <fmt/format.h>

#include "core/base/text.hpp"
#include "native/campaign/sql_campaign.hpp"
#include "native/campaign/sqlite_connection.hpp"
#include "native/campaign/sqlite_statement.hpp"

namespace driftscope {
namespace {

constexpr std::chrono::seconds longest_unflushed{5};

/// Columns number, target, item, result.
SqlRow row_in(const SqliteStatement& select) {
  const auto text = [&](int column) {
    return select.is_text(column) ? std::optional(select.text(column)) : std::nullopt;
  };
  return {.number = select.whole(0), .target = text(1), .item = text(2), .result = text(3)};
}

void bind_cell(SqliteStatement& statement, const std::string& campaign, const CampaignCell& cell) {
  statement.bind(campaign);
  statement.bind(cell.target);
  statement.bind(cell.item);
}

}  // namespace

SqliteStore::SqliteStore(std::unique_ptr<SqliteConnection> connection) : connection_(std::move(connection)) {}

SqliteStore::~SqliteStore() { connection_->flush(); }

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const std::filesystem::path& path,
                                                       const CampaignDefinition& definition,
                                                       std::chrono::milliseconds longest_lock) {
  if (path.empty()) return bad_input("--store sqlite: names no file; expected sqlite:FILE.db");
  DRIFTSCOPE_TRY(auto connection, SqliteConnection::open(path, longest_lock));
  std::unique_ptr<SqliteStore> store(new SqliteStore(std::move(connection)));
  DRIFTSCOPE_CHECK(store->begin(definition));
  return store;
}

Status SqliteStore::begin(const CampaignDefinition& definition) {
  DRIFTSCOPE_TRY(const SqlCampaign campaign, sql_campaign(definition));
  campaign_ = campaign.id;
  {
    SqliteStatement insert(connection_->get(),
                           "INSERT INTO driftscope_campaigns (id, definition, begun) VALUES "
                           "(?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now')) ON CONFLICT DO NOTHING");
    insert.bind(campaign.id);
    insert.bind(campaign.definition);
    if (insert.step() != SQLITE_DONE) return connection_->failure();
  }
  {
    SqliteStatement select(connection_->get(),
                           "SELECT definition = ? FROM driftscope_campaigns WHERE id = ?");
    select.bind(campaign.definition);
    select.bind(campaign.id);
    if (select.step() != SQLITE_ROW) return connection_->failure();
    if (select.whole(0) != 1)
      return connection_->in_file(bad_input(
          fmt::format("the definition of the campaign {} is damaged: its hash is another; name another file",
                      campaign.id)));
  }
  return refresh();
}

Status SqliteStore::refresh() {
  SqliteStatement select(connection_->get(),
                         "SELECT number, target, item, result FROM driftscope_results "
                         "WHERE campaign = ? AND number > ? ORDER BY number");
  select.bind(campaign_);
  select.bind(last_);
  int code = select.step();
  for (; code == SQLITE_ROW; code = select.step()) {
    const std::int64_t number = select.whole(0);
    if (Status taken = take_sql_row(row_in(select), results_); !taken.ok())
      return connection_->in_file(std::move(taken).error());
    last_ = number;
  }
  if (code == SQLITE_DONE) return {};
  Error error = connection_->failure();
  if (code == SQLITE_TOOBIG) error.message += fmt::format(" (the first after row {})", last_);
  return error;
}

Status SqliteStore::read_first(const CampaignCell& cell) {
  SqliteStatement select(connection_->get(),
                         "SELECT number, target, item, result FROM driftscope_results "
                         "WHERE campaign = ? AND target = ? AND item = ?");
  bind_cell(select, campaign_, cell);
  const int code = select.step();
  if (code == SQLITE_DONE) return {};
  if (code != SQLITE_ROW) return failure();
  if (Status taken = take_sql_row(row_in(select), results_); !taken.ok())
    return connection_->in_file(std::move(taken).error());
  return {};
}

Status SqliteStore::add(const CampaignCell& cell, std::string result) {
  if (results_.contains(cell)) return {};
  if (Status fits = check_sql_row(cell, result); !fits.ok())
    return connection_->in_file(std::move(fits).error());
  const auto now = std::chrono::steady_clock::now();
  const bool flush = now - flushed_ >= longest_unflushed;
  if (flush) DRIFTSCOPE_CHECK(connection_->flush_with_next(true));
  // Again, where somebody else has added it and removed it again in between.
  for (int tries = 0; tries < 3 && !results_.contains(cell); ++tries) {
    SqliteStatement insert(connection_->get(),
                           "INSERT INTO driftscope_results (campaign, target, item, result, added) VALUES "
                           "(?, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now')) ON CONFLICT DO NOTHING");
    bind_cell(insert, campaign_, cell);
    insert.bind(result);
    if (insert.step() != SQLITE_DONE) return failure();
    if (sqlite3_changes(connection_->get()) > 0)
      results_.emplace(cell, result);
    else
      DRIFTSCOPE_CHECK(read_first(cell));
  }
  if (flush) {
    DRIFTSCOPE_CHECK(connection_->flush_with_next(false));
    flushed_ = now;
  }
  if (results_.contains(cell)) return {};
  return with_kept(connection_->in_file(
      io_error(fmt::format("another process keeps removing the result of {}", in_quotes(cell.item)))));
}

Status SqliteStore::remove(std::span<const CampaignCell> cells) {
  const Status removed = connection_->transact([&]() -> Status {
    for (const CampaignCell& cell : cells) {
      SqliteStatement statement(
          connection_->get(),
          "DELETE FROM driftscope_results WHERE campaign = ? AND target = ? AND item = ?");
      bind_cell(statement, campaign_, cell);
      if (statement.step() != SQLITE_DONE) return connection_->failure();
    }
    return {};
  });
  if (!removed.ok()) return with_kept(removed.error());
  for (const CampaignCell& cell : cells) results_.erase(cell);
  return {};
}

Error SqliteStore::failure() const { return with_kept(connection_->failure()); }

Error SqliteStore::with_kept(Error error) const {
  error.message +=
      fmt::format("; its {} results are kept: repeat the command, which goes on from there", results_.size());
  return error;
}

}  // namespace driftscope
