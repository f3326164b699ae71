#include "core/campaign/store_format.hpp"

#include <fmt/format.h>

#include "core/base/json.hpp"
#include "core/base/json_walk.hpp"
#include "core/base/sha256.hpp"
#include "core/base/text.hpp"

namespace driftscope {
namespace {

using nlohmann::json;

constexpr std::string_view format_name = "driftscope-campaign-1";
constexpr std::string_view format_family = "driftscope-campaign-";
constexpr int deepest_line = 64;

std::string hash_of(const std::string& kind, const json& fields) {
  const std::string text = json_text(json{{"kind", kind}, {"fields", fields}});
  return sha256_hex(std::as_bytes(std::span(text)));
}

/// An object whose keys are unique, or discarded.
json object_of(std::string_view line) {
  const JsonWalk walk = walk_json(line, deepest_line);
  json parsed = walk.valid && walk.duplicate.empty() ? parse_json(line) : json(json::value_t::discarded);
  return parsed.is_object() ? parsed : json(json::value_t::discarded);
}

Error not_a_store(std::string_view why) {
  return bad_input(
      fmt::format("is not the store of a campaign ({}); it is left as it is: name another file", why));
}

std::string shown(const json& fields, const std::string& key) {
  const auto found = fields.find(key);
  return found == fields.end() ? "nothing" : in_quotes(json_text(*found));
}

/// The first field that differs; nothing where none does.
std::optional<std::string> difference(const json& stored, const json& wanted) {
  json keys = stored;
  keys.update(wanted);
  for (const auto& [key, ignored] : keys.items()) {
    const auto a = stored.find(key);
    const auto b = wanted.find(key);
    if (a == stored.end() || b == wanted.end() || *a != *b)
      return fmt::format("{}: {} in it, {} now", in_quotes(key), shown(stored, key), shown(wanted, key));
  }
  return std::nullopt;
}

Status check_header(std::string_view line, const CampaignDefinition& wanted) {
  const json header = object_of(line);
  const std::string format = header.is_discarded() ? "" : text_at(header, "format");
  if (!format.starts_with(format_family))
    return not_a_store(fmt::format("its first line has no \"format\":\"{}\"", format_name));
  if (format != format_name)
    return unsupported(
        fmt::format("has the format {}, this version of Driftscope reads {}; continue with the "
                    "version that began it, or name another file",
                    in_quotes(format), format_name));
  const auto fields = header.find("fields");
  const std::string kind = text_at(header, "kind");
  if (fields == header.end() || !fields->is_object() || text_at(header, "sha256") != hash_of(kind, *fields))
    return bad_input(
        "line 1 is damaged: \"sha256\" is not that of its \"kind\" and \"fields\"; it is left as it is: "
        "name another file");
  std::optional<std::string> other;
  if (kind != wanted.kind)
    other = fmt::format("kind: {} in it, {} now", in_quotes(kind), in_quotes(wanted.kind));
  if (!other) other = difference(*fields, wanted.fields);
  if (!other && text_at(header, "build") != wanted.build)
    other =
        fmt::format("build: {} in it, {} now", in_quotes(text_at(header, "build")), in_quotes(wanted.build));
  if (!other) return {};
  return bad_input(
      fmt::format("is the store of another campaign ({}); it is left as it is: repeat what began it, or "
                  "name another file",
                  *other));
}

Status read_result(std::string_view line, CampaignResults& results) {
  const json object = object_of(line);
  if (object.is_discarded()) return bad_input("is not a JSON object");
  const auto result = object.find("result");
  if (result == object.end() || text_at(object, "target").empty() || text_at(object, "item").empty())
    return bad_input("lacks \"target\", \"item\" or \"result\"");
  CampaignCell cell{text_at(object, "target"), text_at(object, "item")};
  if (!results.emplace(std::move(cell), json_text(*result)).second)
    return bad_input("repeats the cell of an earlier line");
  return {};
}

/// The error says what it is instead of a line that gives back both.
Result<std::string> line_of(const CampaignCell& cell, std::string_view result) {
  std::string line = fmt::format(R"({{"target":{},"item":{},"result":{}}})", json_text(json(cell.target)),
                                 json_text(json(cell.item)), result);
  CampaignResults read;
  DRIFTSCOPE_CHECK(read_result(line, read));
  if (read != CampaignResults{{cell, std::string(result)}}) return bad_input("is read differently");
  return line;
}

// What is written must be read again: the fault is that of the command whose campaign it is.
Error unreadable(std::string_view what, std::string_view why) {
  return internal_error(fmt::format("{} cannot be kept in a store: its line {}", what, why));
}

}  // namespace

Result<std::string> header_line(const CampaignDefinition& definition) {
  nlohmann::ordered_json header;
  header["format"] = format_name;
  header["kind"] = definition.kind;
  header["fields"] = definition.fields;
  header["sha256"] = hash_of(definition.kind, definition.fields);
  header["build"] = definition.build;
  std::string line = json_text(header);
  if (const Status read = check_header(line, definition); !read.ok())
    return unreadable("the campaign", read.error().message);
  return line;
}

Result<std::string> result_line(const CampaignCell& cell, std::string_view result) {
  auto line = line_of(cell, result);
  if (line.ok()) return line;
  return unreadable(fmt::format("the result of {} on {}", in_quotes(cell.item), in_quotes(cell.target)),
                    line.error().message);
}

Status check_result(const CampaignCell& cell, std::string_view result) {
  auto line = line_of(cell, result);
  return line.ok() ? Status() : Status(std::move(line).error());
}

Result<CampaignDefinition> definition_in(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  const json header = object_of(line);
  CampaignDefinition definition;
  if (!header.is_discarded()) {
    definition.kind = text_at(header, "kind");
    definition.build = text_at(header, "build");
    if (const auto fields = header.find("fields"); fields != header.end()) definition.fields = *fields;
  }
  DRIFTSCOPE_CHECK(check_header(line, definition));
  return definition;
}

Result<StoredCampaign> read_store(std::string_view text, const CampaignDefinition& wanted) {
  StoredCampaign stored;
  std::size_t end = text.find('\n');
  if (end == std::string_view::npos) {
    DRIFTSCOPE_TRY(const std::string header, header_line(wanted));
    if ((header + "\n").starts_with(text)) return stored;
    return not_a_store("it has no whole line");
  }
  DRIFTSCOPE_CHECK(check_header(text.substr(0, end), wanted));
  stored.whole_bytes = end + 1;
  for (int number = 2; (end = text.find('\n', stored.whole_bytes)) != std::string_view::npos; ++number) {
    const auto line = text.substr(stored.whole_bytes, end - stored.whole_bytes);
    if (Status read = read_result(line, stored.results); !read.ok())
      return bad_input(
          fmt::format("line {} is damaged: it {}; the file is left as it is: remove this line to have "
                      "its cell run again, or name another file",
                      number, read.error().message));
    stored.whole_bytes = end + 1;
  }
  return stored;
}

}  // namespace driftscope
