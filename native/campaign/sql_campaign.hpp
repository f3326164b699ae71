// What the stores of campaigns in SQL databases have in common: which campaign is which, how large a row may
// be, and the check of rows that are read. Clients: SqliteStore, PostgresStore. It talks to no database.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/campaign/store_format.hpp"

namespace driftscope {

/// Of the tables driftscope_schema, driftscope_campaigns and driftscope_results (docs/stores.md).
inline constexpr std::int64_t sql_store_schema = 1;

/// So that both fit into an index of PostgreSQL, together with the campaign.
inline constexpr std::size_t longest_stored_name = 1024;
inline constexpr std::size_t longest_stored_result = std::size_t{64} << 20;

struct SqlCampaign {
  std::string id;          ///< the SHA-256 of the definition
  std::string definition;  ///< header_line
};

[[nodiscard]] Result<SqlCampaign> sql_campaign(const CampaignDefinition& definition);

/// Before a row is written. Errors: too long, or a fault of the command whose result it is.
[[nodiscard]] Status check_sql_row(const CampaignCell& cell, const std::string& result);

/// A row as a database gives it.
struct SqlRow {
  std::int64_t number = 0;
  std::optional<std::string> target;  ///< nothing: no text, or longer than a row may be
  std::optional<std::string> item;
  std::optional<std::string> result;
};

/// Takes a row into the results, unless they have its cell. Errors: it is damaged, with its number.
[[nodiscard]] Status take_sql_row(SqlRow row, CampaignResults& results);

/// Errors: of a newer version, or not a number that a version has.
[[nodiscard]] Status check_sql_schema(std::int64_t version);

}  // namespace driftscope
