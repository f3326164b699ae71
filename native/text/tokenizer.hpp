// A tokenizer as tokenizer.json describes it (the format of Hugging Face's tokenizers): texts to tokens and
// back. Truncation and padding that a file asks for are left out. Regular expressions are PCRE2's, Unicode is
// utf8proc's, which is why it is native. Clients: generate.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace driftscope {

class Tokenizer {
 public:
  /// Errors say where in the file, what was expected and what is there; what is not supported is named.
  [[nodiscard]] static Result<Tokenizer> read(std::string_view json);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  /// With the special tokens that the file puts around a text, unless `plain`. Errors: bytes that are not
  /// UTF-8, a character that the model has no token for.
  [[nodiscard]] Result<std::vector<std::int64_t>> encode(std::string_view text, bool plain = false) const;
  /// Numbers that are no tokens are left out, special ones unless `specials`. Always UTF-8.
  [[nodiscard]] Result<std::string> decode(std::span<const std::int64_t> tokens, bool specials = false) const;
  /// A token by itself, in a text: a space where a word begins, bytes as they are (they may be half a
  /// character). Nothing: no such token.
  [[nodiscard]] std::optional<std::string> token_text(std::int64_t token) const;

 private:
  struct Parts;
  explicit Tokenizer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace driftscope
