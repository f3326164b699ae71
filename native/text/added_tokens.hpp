// Tokens beside a tokenizer's model ("added_tokens"), which are found in a text before the model sees it.
// Clients: Tokenizer.
#pragma once

#include <array>
#include <map>

#include "native/text/stages.hpp"
#include "native/text/token_model.hpp"

namespace driftscope::texts {

class AddedTokens {
 public:
  /// A number that the vocabulary gives to the same text counts more than the file's own.
  [[nodiscard]] Status read(const Fields& file, const Vocabulary& vocabulary, const Normalizer& normalizer);

  struct Found {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::optional<Token> token = {};
  };
  /// Tokens and what lies between them; `normalized`: those that are looked for in normalized text.
  [[nodiscard]] std::vector<Found> split(std::string_view text, bool normalized) const;

  [[nodiscard]] const std::string* text(Token id) const;
  [[nodiscard]] bool special(Token id) const;

 private:
  struct One {
    std::string text, pattern;
    Token id = 0;
    bool special = false, single_word = false, lstrip = false, rstrip = false, normalized = false;
  };
  std::vector<One> all_;
  std::map<Token, std::size_t> places_;
  std::array<std::vector<std::size_t>, 256> by_byte_[2];  ///< those that begin with it, longest first
};

}  // namespace driftscope::texts
