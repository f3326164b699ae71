// Any bytes as a tokenizer.json, and what is behind the first 0 as a text for it.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/base/text.hpp"
#include "native/text/tokenizer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace driftscope;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto end = bytes.find('\0');
  const std::string_view text =
      end == std::string_view::npos ? "Hi there, it's 12 \xc3\xa9" : bytes.substr(end + 1);
  const auto tokenizer = Tokenizer::read(bytes.substr(0, end));
  if (!tokenizer.ok()) return 0;
  const auto tokens = tokenizer->encode(text);
  if (tokens.ok() && !valid_utf8(text)) std::abort();
  if (tokens.ok()) (void)tokenizer->decode(*tokens);
  return 0;
}
