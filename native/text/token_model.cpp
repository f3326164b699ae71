#include "native/text/token_model.hpp"

#include "native/text/unicode.hpp"

namespace driftscope::texts {
namespace {

class WordPiece final : public TokenModel {
 public:
  Status read(const Fields& fields, bool pieces) {
    pieces_ = pieces;
    DRIFTSCOPE_CHECK(read_vocabulary(fields, vocabulary_));
    DRIFTSCOPE_TRY(unknown_, fields.text("unk_token", "[UNK]"));
    if (!pieces) return {};
    DRIFTSCOPE_TRY(prefix_, fields.text("continuing_subword_prefix", "##"));
    if (fields.find("max_input_chars_per_word") != nullptr) {
      DRIFTSCOPE_TRY(longest_, fields.whole("max_input_chars_per_word"));
    }
    return {};
  }

  Status tokenize(std::string_view piece, std::vector<Token>& tokens) const override {
    if (!pieces_) {
      if (const auto id = vocabulary_.find(piece)) return tokens.push_back(*id), Status();
      return add_unknown(tokens);
    }
    std::vector<std::size_t> starts;  // of characters
    for (std::size_t i = 0; i < piece.size(); i += character_at(piece, i).bytes) starts.push_back(i);
    starts.push_back(piece.size());
    if (std::ssize(starts) - 1 > longest_) return add_unknown(tokens);
    const std::size_t before = tokens.size();
    std::string part;
    for (std::size_t begin = 0; begin + 1 < starts.size();) {
      std::size_t end = starts.size() - 1;
      for (; end > begin; --end) {
        part = begin > 0 ? prefix_ : "";
        part += piece.substr(starts[begin], starts[end] - starts[begin]);
        if (const auto id = vocabulary_.find(part)) {
          tokens.push_back(*id);
          break;
        }
      }
      if (end == begin) {
        tokens.resize(before);
        return add_unknown(tokens);
      }
      begin = end;
    }
    return {};
  }

 private:
  Status add_unknown(std::vector<Token>& tokens) const {
    const auto id = vocabulary_.find(unknown_);
    if (!id)
      return bad_input(fmt::format("model.unk_token: {} is not in the vocabulary, and a text needs it",
                                   in_quotes(unknown_)));
    tokens.push_back(*id);
    return {};
  }

  bool pieces_ = true;
  std::string unknown_, prefix_;
  std::int64_t longest_ = 100;
};

}  // namespace

Status Vocabulary::add(const std::string& token, Token id, const std::string& where) {
  if (id < 0 || id > 0x7fffffff)
    return bad_input(
        fmt::format("{}: {} has the number {}; expected 0 to 2147483647", where, in_quotes(token), id));
  if (!ids_.emplace(token, id).second)
    return bad_input(fmt::format("{}: {} is there twice", where, in_quotes(token)));
  if (const auto [at, added] = texts_.emplace(id, token); !added)
    return bad_input(fmt::format("{}: {} and {} have the same number, {}", where, in_quotes(at->second),
                                 in_quotes(token), id));
  return {};
}

std::optional<Token> Vocabulary::find(std::string_view token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

const std::string* Vocabulary::text(Token id) const {
  const auto found = texts_.find(id);
  return found == texts_.end() ? nullptr : &found->second;
}

Status read_vocabulary(const Fields& fields, Vocabulary& vocabulary) {
  const Json* const json = fields.find("vocab");
  if (json == nullptr || !json->is_object() || json->empty())
    return fields.wrong("vocab", "an object, each token with its number", json);
  for (const auto& [token, id] : json->items()) {
    if (!id.is_number_integer())
      return bad_input(fmt::format("{}: {} has {}; expected a whole number", fields.at("vocab"),
                                   in_quotes(token), id.type_name()));
    DRIFTSCOPE_CHECK(vocabulary.add(token, id.get<Token>(), fields.at("vocab")));
  }
  return {};
}

Result<std::unique_ptr<TokenModel>> read_word_piece(const Fields& fields, bool pieces) {
  auto model = std::make_unique<WordPiece>();
  DRIFTSCOPE_CHECK(model->read(fields, pieces));
  return std::unique_ptr<TokenModel>(std::move(model));
}

Result<std::unique_ptr<TokenModel>> read_token_model(const Fields& fields) {
  const Json* const vocab = fields.find("vocab");
  const std::string guess = fields.find("merges") != nullptr                      ? "BPE"
                            : fields.find("continuing_subword_prefix") != nullptr ? "WordPiece"
                            : vocab != nullptr && vocab->is_array()               ? "Unigram"
                                                                                  : "WordLevel";
  DRIFTSCOPE_TRY(const std::string type, fields.text("type", guess));
  if (type == "BPE") return read_bpe(fields);
  if (type == "WordPiece") return read_word_piece(fields, true);
  if (type == "WordLevel") return read_word_piece(fields, false);
  if (type == "Unigram") return read_unigram(fields);
  return fields.unknown(type, "BPE, Unigram, WordLevel, WordPiece");
}

}  // namespace driftscope::texts
