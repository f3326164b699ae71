// Any bytes as a text model's description, as a vocabulary, or as a text; the first byte says which.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/base/text.hpp"
#include "core/dataset/dataset.hpp"

namespace {

using namespace driftscope;

/// Words are never empty, contain no separators, and splitting them again gives the same words.
void text(std::string_view bytes) {
  const auto words = words_of(bytes, {"<br />"});
  if (words.ok() != valid_utf8(bytes)) std::abort();
  if (!words.ok()) return;
  for (const std::string& word : *words) {
    const auto again = words_of(word, {});
    if (word.empty() || !again.ok() || *again != std::vector{word}) std::abort();
  }
}

void description(std::string_view bytes) {
  const auto how = parse_sample_description(bytes);
  if (!how.ok() || !std::holds_alternative<TextPreprocess>(*how)) return;
  const auto& texts = std::get<TextPreprocess>(*how);
  const std::string_view listed = "good\nfilm\n";
  const auto vocabulary = Vocabulary::read(std::as_bytes(std::span(listed)));
  const auto tokens = encode(texts, *vocabulary, "A good, good film");
  if (tokens.ok() && tokens->shape() != Shape{1, texts.length}) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  const std::string_view characters(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  switch (data[0] % 3) {
    case 0: text(characters); break;
    case 1: description(characters); break;
    case 2: (void)Vocabulary::read(bytes); break;
    default: break;
  }
  return 0;
}
