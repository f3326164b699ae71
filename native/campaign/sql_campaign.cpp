#include "native/campaign/sql_campaign.hpp"

#include <fmt/format.h>

#include "core/base/sha256.hpp"
#include "core/base/text.hpp"

namespace driftscope {
namespace {

Error damaged_row(std::int64_t number, const std::string& why) {
  return bad_input(fmt::format(
      "row {0} of driftscope_results is damaged: it {1}; the database is left as it is: have the cell run "
      "again by DELETE FROM driftscope_results WHERE number = {0}, or name another database",
      number, why));
}

}  // namespace

Result<SqlCampaign> sql_campaign(const CampaignDefinition& definition) {
  SqlCampaign campaign;
  DRIFTSCOPE_TRY(campaign.definition, header_line(definition));
  campaign.id = sha256_hex(std::as_bytes(std::span(campaign.definition)));
  return campaign;
}

Status check_sql_row(const CampaignCell& cell, const std::string& result) {
  for (const std::string* const name : {&cell.target, &cell.item})
    if (name->size() > longest_stored_name || name->find('\0') != std::string::npos)
      return limit_error(fmt::format(
          "the name {} has {} bytes{}, a database takes names of {} without a zero byte; keep this campaign "
          "in a file",
          in_quotes(*name), name->size(), name->size() > longest_stored_name ? "" : " and a zero among them",
          longest_stored_name));
  if (result.size() > longest_stored_result)
    return limit_error(
        fmt::format("the result of {} on {} has {} bytes, a database takes {}; keep this campaign in a file",
                    in_quotes(cell.item), in_quotes(cell.target), result.size(), longest_stored_result));
  auto line = result_line(cell, result);
  return line.ok() ? Status() : Status(std::move(line).error());
}

Status take_sql_row(SqlRow row, CampaignResults& results) {
  for (const auto* const name : {&row.target, &row.item})
    if (!*name || (*name)->size() > longest_stored_name)
      return damaged_row(
          row.number,
          fmt::format("has no name of a target and an item, texts of at most {} bytes", longest_stored_name));
  CampaignCell cell{*std::move(row.target), *std::move(row.item)};
  if (results.contains(cell)) return {};
  if (!row.result || row.result->size() > longest_stored_result)
    return damaged_row(row.number,
                       fmt::format("has no result, a text of at most {} bytes", longest_stored_result));
  if (const Status checked = check_result(cell, *row.result); !checked.ok())
    return damaged_row(row.number, checked.error().message);
  results.emplace(std::move(cell), *std::move(row.result));
  return {};
}

Status check_sql_schema(std::int64_t version) {
  if (version > sql_store_schema)
    return unsupported(
        fmt::format("was made by a newer Driftscope (schema {}, this one knows {}); take that version, or "
                    "name another database",
                    version, sql_store_schema));
  if (version < 1) return bad_input("is damaged: driftscope_schema has no version; name another database");
  return {};
}

}  // namespace driftscope
