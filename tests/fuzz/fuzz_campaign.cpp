// Any bytes as the store of a campaign. What was read is what a store with these results says, and a store
// that is cut keeps its whole lines.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/campaign/store_format.hpp"

namespace {

using namespace driftscope;

const CampaignDefinition definition{"conformance", {{"cases", "abc"}, {"seed", 42}}, "build"};

std::string written(const CampaignResults& results) {
  std::string text = *header_line(definition) + "\n";
  for (const auto& [cell, result] : results) {
    const auto line = result_line(cell, result);
    if (!line.ok()) std::abort();  // what was read can be written
    text += *line + "\n";
  }
  return text;
}

void read(std::string_view text, std::size_t cut) {
  const auto stored = read_store(text, definition);
  if (!stored.ok()) return;
  if (stored->whole_bytes > text.size()) std::abort();
  const auto again = read_store(written(stored->results), definition);
  if (!again.ok() || again->results != stored->results) std::abort();
  const auto shorter = read_store(text.substr(0, text.size() - cut % (text.size() + 1)), definition);
  if (shorter.ok() && shorter->results.size() > stored->results.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 2), size - 2);
  const std::size_t cut = data[0];
  // Few inputs would guess the hash of a header.
  if (data[1] % 2 == 0)
    read(text, cut);
  else
    read(*header_line(definition) + "\n" + std::string(text), cut);
  return 0;
}
