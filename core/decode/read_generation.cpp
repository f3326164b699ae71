#include "core/decode/read_generation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/json_lists.hpp"

namespace driftscope {

Result<documents::Generate> read_generation(std::string_view json) {
  DRIFTSCOPE_TRY(const auto document, parse_document(json));
  const auto format = document.is_object() ? document.find("format") : document.end();
  if (!document.is_object() || format == document.end() || *format != "driftscope-generate-1")
    return bad_input(
        "expected the JSON of `driftscope generate --json`, \"format\": \"driftscope-generate-1\"");
  documents::Generate results;
  DRIFTSCOPE_CHECK(read_json(document, JsonPath(), results));
  if (results.targets.empty()) return bad_input("targets: expected at least one target, got none");
  // They are looked up by number.
  std::ranges::sort(results.tokens, {}, &documents::GenerateToken::token);
  return results;
}

}  // namespace driftscope
