#include "native/campaign/postgres_store.hpp"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "native/campaign/sql_campaign.hpp"

namespace driftscope {
namespace {

// One transaction; the lock (a number of our own) is for processes that begin at once.
constexpr const char* postgres_tables = R"sql(
  SELECT pg_advisory_xact_lock(28273294687076353);
  CREATE TABLE IF NOT EXISTS driftscope_schema (version integer NOT NULL);
  INSERT INTO driftscope_schema SELECT 1 WHERE NOT EXISTS (SELECT FROM driftscope_schema);
  CREATE TABLE IF NOT EXISTS driftscope_campaigns (
    id text PRIMARY KEY,
    definition text NOT NULL,
    begun timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE IF NOT EXISTS driftscope_results (
    number bigint GENERATED ALWAYS AS IDENTITY,
    campaign text NOT NULL,
    target text NOT NULL,
    item text NOT NULL,
    result text NOT NULL,
    added timestamptz NOT NULL DEFAULT now(),
    -- Numbers do not say in which order rows become visible.
    added_in xid8 NOT NULL DEFAULT pg_current_xact_id(),
    PRIMARY KEY (campaign, target, item)
  );
  CREATE INDEX IF NOT EXISTS driftscope_results_added ON driftscope_results (campaign, added_in, number);
)sql";

constexpr int rows_at_once = 1000;

// What a row must not have is not sent: with the columns number, target, item, result.
std::string bounded_columns() {
  return fmt::format(
      "number, CASE WHEN octet_length(target) <= {0} THEN target END, CASE WHEN octet_length(item) <= {0} "
      "THEN "
      "item END, CASE WHEN octet_length(result) <= {1} THEN result END",
      longest_stored_name, longest_stored_result);
}

std::int64_t number_in(const std::optional<std::string>& text) {
  std::int64_t number = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), number);
  return number;
}

Status check_columns(const PostgresConnection::Row& row, std::size_t wanted) {
  if (row.size() == wanted) return {};
  return bad_input(fmt::format("the server answers with {} columns, expected {}", row.size(), wanted));
}

/// The columns of bounded_columns(), which `row` begins with.
Status take_row(PostgresConnection::Row row, CampaignResults& results) {
  return take_sql_row({number_in(row[0]), std::move(row[1]), std::move(row[2]), std::move(row[3])}, results);
}

}  // namespace

Result<std::unique_ptr<PostgresStore>> PostgresStore::open(const std::string& text,
                                                           const CampaignDefinition& definition,
                                                           const PostgresTimes& times,
                                                           PostgresConnection::Notice notice) {
  const std::string where = "--store " + without_passwords(text);
  auto url = read_store_url(text);
  if (!url.ok()) return in_context(std::move(url).error(), where);
  const std::string shown = url->shown;
  if (notice)
    notice = [notice, where](const std::string& what) { notice(fmt::format("{}: {}", where, what)); };
  auto connection = PostgresConnection::open(*std::move(url), times, std::move(notice));
  if (!connection.ok()) {
    Error error = in_context(std::move(connection).error(), where);
    if (error.kind == ErrorKind::io)
      error.message +=
          "; check that the server runs, and its address, user and database; passwords are read from "
          "$PGPASSWORD "
          "and ~/.pgpass";
    return error;
  }
  std::unique_ptr<PostgresStore> store(new PostgresStore(shown, *std::move(connection)));
  if (Status begun = store->begin(definition); !begun.ok()) return store->in_store(std::move(begun).error());
  return store;
}

Status PostgresStore::begin(const CampaignDefinition& definition) {
  DRIFTSCOPE_TRY(const SqlCampaign campaign, sql_campaign(definition));
  campaign_ = campaign.id;
  DRIFTSCOPE_CHECK(provide_tables());
  const std::string values[] = {campaign.id, campaign.definition};
  DRIFTSCOPE_CHECK(connection_.run(
      "INSERT INTO driftscope_campaigns (id, definition) VALUES ($1, $2) ON CONFLICT DO NOTHING", values));
  bool same = false;
  DRIFTSCOPE_CHECK(connection_.run("SELECT definition = $2 FROM driftscope_campaigns WHERE id = $1", values,
                                   [&](const PostgresConnection::Row& row) {
                                     same = row.size() == 1 && row[0] == "t";
                                     return Status();
                                   }));
  if (!same)
    return bad_input(fmt::format(
        "the definition of the campaign {} is damaged: its hash is another; name another database",
        campaign.id));
  return refresh();
}

Status PostgresStore::provide_tables() {
  bool known = false;
  DRIFTSCOPE_CHECK(connection_.run("SELECT to_regclass('driftscope_schema') IS NOT NULL", {},
                                   [&](const PostgresConnection::Row& row) {
                                     known = row.size() == 1 && row[0] == "t";
                                     return Status();
                                   }));
  // To look needs no right to make tables.
  if (!known) DRIFTSCOPE_CHECK(connection_.run_script(postgres_tables));
  std::int64_t version = 0;
  DRIFTSCOPE_CHECK(connection_.run("SELECT max(version) FROM driftscope_schema", {},
                                   [&](const PostgresConnection::Row& row) {
                                     version = row.size() == 1 ? number_in(row[0]) : 0;
                                     return Status();
                                   }));
  return check_sql_schema(version);
}

// A transaction may end after a later one has, so what is read begins with the first that had not ended when
// the last reading began.
Status PostgresStore::refresh() {
  std::string next = seen_;
  DRIFTSCOPE_CHECK(connection_.run("SELECT pg_snapshot_xmin(pg_current_snapshot())", {},
                                   [&](const PostgresConnection::Row& row) -> Status {
                                     DRIFTSCOPE_CHECK(check_columns(row, 1));
                                     next = row[0].value_or(next);
                                     return Status();
                                   }));
  static const std::string select = fmt::format(
      "SELECT {}, added_in FROM driftscope_results WHERE campaign = $1 AND (added_in, number) > ($2::xid8, "
      "$3::bigint) ORDER BY added_in, number LIMIT {}",
      bounded_columns(), rows_at_once);
  std::string transaction = seen_;
  std::string number = "0";
  for (bool more = true; more;) {
    more = false;
    const std::string values[] = {campaign_, transaction, number};
    DRIFTSCOPE_CHECK(connection_.run(select.c_str(), values, [&](PostgresConnection::Row row) -> Status {
      DRIFTSCOPE_CHECK(check_columns(row, 5));
      more = true;
      number = row[0].value_or("0");
      transaction = row[4].value_or("0");
      return take_row(std::move(row), results_);
    }));
  }
  seen_ = next;
  return {};
}

Result<bool> PostgresStore::insert(const CampaignCell& cell, const std::string& result) {
  const std::string values[] = {campaign_, cell.target, cell.item, result};
  bool inserted = false;
  DRIFTSCOPE_CHECK(connection_.run(
      "INSERT INTO driftscope_results (campaign, target, item, result) VALUES ($1, $2, $3, $4) "
      "ON CONFLICT DO NOTHING RETURNING 1",
      values, [&](const PostgresConnection::Row&) {
        inserted = true;
        return Status();
      }));
  return inserted;
}

Status PostgresStore::read_first(const CampaignCell& cell) {
  static const std::string select =
      fmt::format("SELECT {} FROM driftscope_results WHERE campaign = $1 AND target = $2 AND item = $3",
                  bounded_columns());
  const std::string values[] = {campaign_, cell.target, cell.item};
  return connection_.run(select.c_str(), values, [&](PostgresConnection::Row row) -> Status {
    DRIFTSCOPE_CHECK(check_columns(row, 4));
    return take_row(std::move(row), results_);
  });
}

Status PostgresStore::add(const CampaignCell& cell, std::string result) {
  if (results_.contains(cell)) return {};
  if (Status fits = check_sql_row(cell, result); !fits.ok()) return in_store(std::move(fits).error());
  // Again, where somebody else has added it and removed it again in between.
  for (int tries = 0; tries < 3; ++tries) {
    auto inserted = insert(cell, result);
    if (!inserted.ok()) return with_kept(std::move(inserted).error());
    if (*inserted) {
      results_.emplace(cell, std::move(result));
      return {};
    }
    if (Status read = read_first(cell); !read.ok()) return with_kept(std::move(read).error());
    if (results_.contains(cell)) return {};
  }
  return with_kept(
      io_error(fmt::format("another process keeps removing the result of {}", in_quotes(cell.item))));
}

Status PostgresStore::remove(std::span<const CampaignCell> cells) {
  nlohmann::json list = nlohmann::json::array();
  for (const CampaignCell& cell : cells) list.push_back({{"target", cell.target}, {"item", cell.item}});
  const std::string values[] = {campaign_, json_text(list)};
  if (Status removed = connection_.run(
          "DELETE FROM driftscope_results WHERE campaign = $1 AND (target, item) IN "
          "(SELECT target, item FROM json_to_recordset($2::json) AS cells (target text, item text))",
          values);
      !removed.ok())
    return with_kept(std::move(removed).error());
  for (const CampaignCell& cell : cells) results_.erase(cell);
  return {};
}

Error PostgresStore::in_store(Error error) const { return in_context(std::move(error), "--store " + shown_); }

Error PostgresStore::with_kept(Error error) const {
  error = in_store(std::move(error));
  error.message += fmt::format(
      "; its {} results are kept in the database: repeat the command, which goes on "
      "from there",
      results_.size());
  return error;
}

}  // namespace driftscope
