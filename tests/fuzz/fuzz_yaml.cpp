// Any bytes as YAML. What was read is JSON within limits, and means the same when it is read again as JSON,
// which is YAML too.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/base/json.hpp"
#include "core/base/json_lists.hpp"
#include "native/text/yaml.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace driftscope;
  const auto document = read_yaml({reinterpret_cast<const char*>(data), size});
  if (!document.ok()) return 0;
  const std::string json = json_text(document->value);
  if (!parse_document(json).ok()) std::abort();
  for (const auto& [path, line] : document->lines)
    if (line < 1 || document->line_of(path) != line) std::abort();
  return 0;
}
