#include <algorithm>
#include <queue>

#include "native/text/token_model.hpp"
#include "native/text/unicode.hpp"

namespace driftscope::texts {
namespace {

class Bpe final : public TokenModel {
 public:
  Status read(const Fields& fields) {
    DRIFTSCOPE_CHECK(read_vocabulary(fields, vocabulary_));
    DRIFTSCOPE_TRY(prefix_, fields.text("continuing_subword_prefix", ""));
    DRIFTSCOPE_TRY(suffix_, fields.text("end_of_word_suffix", ""));
    DRIFTSCOPE_TRY(unknown_, fields.text("unk_token", ""));
    has_unknown_ = fields.find("unk_token") != nullptr;
    DRIFTSCOPE_TRY(fuses_unknown_, fields.flag("fuse_unk", false));
    DRIFTSCOPE_TRY(byte_fallback_, fields.flag("byte_fallback", false));
    DRIFTSCOPE_TRY(ignores_merges_, fields.flag("ignore_merges", false));
    if (const Json* const dropout = fields.find("dropout"); dropout != nullptr && *dropout != Json(0.0))
      return unsupported(fmt::format("{}: expected null, since the same text has other tokens each time",
                                     fields.at("dropout")));
    const Json* const merges = fields.find("merges");
    if (merges == nullptr || !merges->is_array()) return fields.wrong("merges", "a list", merges);
    for (std::size_t rank = 0; rank < merges->size(); ++rank)
      DRIFTSCOPE_CHECK(add_merge((*merges)[rank], rank, fmt::format("{}[{}]", fields.at("merges"), rank)));
    return {};
  }

  Status tokenize(std::string_view piece, std::vector<Token>& tokens) const override {
    if (ignores_merges_)
      if (const auto whole = vocabulary_.find(piece)) return tokens.push_back(*whole), Status();
    DRIFTSCOPE_TRY(const auto symbols, characters(piece));
    merge(symbols, tokens);
    return {};
  }

 private:
  struct Merge {
    std::size_t rank;
    Token made;
  };
  struct Candidate {
    std::size_t rank;
    std::size_t at;
    Token made;
    bool operator<(const Candidate& other) const {  // the lowest rank first, of equal ones the leftmost
      return rank != other.rank ? rank > other.rank : at > other.at;
    }
  };
  static std::uint64_t pair_key(Token a, Token b) {
    return static_cast<std::uint64_t>(a) << 32 | static_cast<std::uint64_t>(b);
  }

  // "a b" or ["a", "b"].
  Status add_merge(const Json& json, std::size_t rank, const std::string& where) {
    std::string a, b;
    if (json.is_array() && json.size() == 2 && json[0].is_string() && json[1].is_string()) {
      a = json[0].get<std::string>();
      b = json[1].get<std::string>();
    } else if (const auto text = json.is_string() ? json.get<std::string>() : std::string();
               std::ranges::count(text, ' ') == 1) {
      a = text.substr(0, text.find(' '));
      b = text.substr(text.find(' ') + 1);
    } else {
      return bad_input(
          fmt::format("{}: expected \"a b\" or [\"a\", \"b\"], found {}", where,
                      json.is_string() ? in_quotes(text_of(json)) : std::string(json.type_name())));
    }
    const auto left = vocabulary_.find(a), right = vocabulary_.find(b);
    const std::string joined = a + (b.size() >= prefix_.size() ? b.substr(prefix_.size()) : std::string());
    const auto made = vocabulary_.find(joined);
    if (!left || !right || !made)
      return bad_input(fmt::format("{}: {} is not in the vocabulary", where,
                                   in_quotes(!left    ? a
                                             : !right ? b
                                                      : joined)));
    merges_[pair_key(*left, *right)] = {rank, *made};
    return {};
  }
  static std::string text_of(const Json& json) { return json.get<std::string>(); }

  Result<std::vector<Token>> characters(std::string_view piece) const {
    std::vector<Token> symbols;
    std::optional<Token> pending;  // an unknown one that the next may join
    for (std::size_t i = 0; i < piece.size();) {
      const std::size_t bytes = character_at(piece, i).bytes;
      std::string one(piece.substr(i, bytes));
      if (i > 0) one.insert(0, prefix_);
      i += bytes;
      if (i >= piece.size()) one += suffix_;
      if (const auto id = vocabulary_.find(one)) {
        if (pending) symbols.push_back(*pending);
        pending.reset();
        symbols.push_back(*id);
        continue;
      }
      // As the library does, in front of an unknown one that is pending.
      if (byte_fallback_ && add_bytes(one, symbols)) continue;
      if (!has_unknown_) continue;
      const auto id = vocabulary_.find(unknown_);
      if (!id)
        return bad_input(fmt::format("model.unk_token: {} is not in the vocabulary, and a text needs it",
                                     in_quotes(unknown_)));
      if (pending && !fuses_unknown_) symbols.push_back(*pending);
      pending = id;
    }
    if (pending) symbols.push_back(*pending);
    return symbols;
  }

  bool add_bytes(const std::string& text, std::vector<Token>& symbols) const {
    std::vector<Token> bytes;
    for (const char c : text) {
      const auto id = vocabulary_.find(fmt::format("<0x{:02X}>", static_cast<std::uint8_t>(c)));
      if (!id) return false;
      bytes.push_back(*id);
    }
    symbols.insert(symbols.end(), bytes.begin(), bytes.end());
    return true;
  }

  void merge(std::vector<Token> symbols, std::vector<Token>& tokens) const {
    const std::size_t count = symbols.size();
    std::vector<std::size_t> next(count), before(count);
    std::vector<bool> gone(count);
    std::priority_queue<Candidate> queue;
    const auto offer = [&](std::size_t at) {
      if (next[at] >= count) return;
      const auto found = merges_.find(pair_key(symbols[at], symbols[next[at]]));
      if (found != merges_.end()) queue.push({found->second.rank, at, found->second.made});
    };
    for (std::size_t i = 0; i < count; ++i) next[i] = i + 1, before[i] = i - 1;
    for (std::size_t i = 0; i < count; ++i) offer(i);
    while (!queue.empty()) {
      const Candidate top = queue.top();
      queue.pop();
      if (gone[top.at] || next[top.at] >= count) continue;
      const std::size_t right = next[top.at];
      const auto found = merges_.find(pair_key(symbols[top.at], symbols[right]));
      if (found == merges_.end() || found->second.made != top.made) continue;  // merged otherwise since
      symbols[top.at] = top.made;
      gone[right] = true;
      next[top.at] = next[right];
      if (next[right] < count) before[next[right]] = top.at;
      if (top.at > 0) offer(before[top.at]);
      offer(top.at);
    }
    for (std::size_t i = 0; i < count; ++i)
      if (!gone[i]) tokens.push_back(symbols[i]);
  }

  std::unordered_map<std::uint64_t, Merge> merges_;
  std::string prefix_, suffix_, unknown_;
  bool has_unknown_ = false, fuses_unknown_ = false, byte_fallback_ = false, ignores_merges_ = false;
};

}  // namespace

Result<std::unique_ptr<TokenModel>> read_bpe(const Fields& fields) {
  auto model = std::make_unique<Bpe>();
  DRIFTSCOPE_CHECK(model->read(fields));
  return std::unique_ptr<TokenModel>(std::move(model));
}

}  // namespace driftscope::texts
