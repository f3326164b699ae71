// The model of a tokenizer: how a piece of text becomes tokens. Clients: Tokenizer.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "native/text/fields.hpp"

namespace driftscope::texts {

using Token = std::int64_t;

class Vocabulary {
 public:
  /// Errors: a token or a number that is there twice, numbers that are too large.
  [[nodiscard]] Status add(const std::string& token, Token id, const std::string& where);
  [[nodiscard]] std::optional<Token> find(std::string_view token) const;
  /// Null: no such token.
  [[nodiscard]] const std::string* text(Token id) const;
  [[nodiscard]] std::size_t size() const { return ids_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, Token, Hash, std::equal_to<>> ids_;
  std::unordered_map<Token, std::string> texts_;
};

class TokenModel {
 public:
  virtual ~TokenModel() = default;
  [[nodiscard]] virtual Status tokenize(std::string_view piece, std::vector<Token>& tokens) const = 0;
  [[nodiscard]] const Vocabulary& vocabulary() const { return vocabulary_; }

 protected:
  Vocabulary vocabulary_;
};

/// By "type"; the oldest files have none, and their fields tell.
[[nodiscard]] Result<std::unique_ptr<TokenModel>> read_token_model(const Fields& fields);
[[nodiscard]] Result<std::unique_ptr<TokenModel>> read_bpe(const Fields& fields);
[[nodiscard]] Result<std::unique_ptr<TokenModel>> read_word_piece(const Fields& fields, bool pieces);
[[nodiscard]] Result<std::unique_ptr<TokenModel>> read_unigram(const Fields& fields);

/// {"token": number, …}
[[nodiscard]] Status read_vocabulary(const Fields& fields, Vocabulary& vocabulary);

}  // namespace driftscope::texts
