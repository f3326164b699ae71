#include <algorithm>
#include <cmath>
#include <limits>

#include "native/text/token_model.hpp"
#include "native/text/unicode.hpp"

namespace driftscope::texts {
namespace {

constexpr double unknown_penalty = 10.0;  // below the least likely token: SentencePiece's kUnkPenalty

class Unigram final : public TokenModel {
 public:
  Status read(const Fields& fields) {
    const Json* const vocab = fields.find("vocab");
    if (vocab == nullptr || !vocab->is_array() || vocab->empty())
      return fields.wrong("vocab", "a list of [token, score]", vocab);
    for (std::size_t i = 0; i < vocab->size(); ++i) {
      const Json& entry = (*vocab)[i];
      const std::string where = fmt::format("{}[{}]", fields.at("vocab"), i);
      if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number())
        return bad_input(fmt::format("{}: expected [token, score], found {}", where, entry.type_name()));
      const auto token = entry[0].get<std::string>();
      DRIFTSCOPE_CHECK(vocabulary_.add(token, static_cast<Token>(i), where));
      scores_.push_back(entry[1].get<double>());
      least_ = std::min(least_, scores_.back());
      longest_ = std::max(longest_, token.size());
    }
    DRIFTSCOPE_TRY(byte_fallback_, fields.flag("byte_fallback", false));
    if (fields.find("unk_id") == nullptr) return {};
    DRIFTSCOPE_TRY(unknown_, fields.whole("unk_id"));
    if (*unknown_ >= std::ssize(scores_))
      return bad_input(fmt::format("{}: {}; expected less than {}, the size of the vocabulary",
                                   fields.at("unk_id"), *unknown_, scores_.size()));
    return {};
  }

  /// The most likely tokens (Viterbi); neighbours that are unknown become one.
  Status tokenize(std::string_view piece, std::vector<Token>& tokens) const override {
    struct Node {
      Token id = 0;
      double score = 0.0;
      std::size_t begin = std::string_view::npos;
    };
    std::vector<Node> best(piece.size() + 1);
    const auto offer = [&](std::size_t begin, std::size_t end, Token id, double score) {
      Node& node = best[end];
      const double total = score + best[begin].score;
      if (node.begin == std::string_view::npos || total > node.score) node = {id, total, begin};
    };
    for (std::size_t at = 0; at < piece.size();) {
      const std::size_t one = character_at(piece, at).bytes;
      bool single = false;
      for (std::size_t end = at + one; end <= piece.size() && end - at <= longest_;) {
        if (const auto id = vocabulary_.find(piece.substr(at, end - at))) {
          offer(at, end, *id, scores_[static_cast<std::size_t>(*id)]);
          single = single || end - at == one;
        }
        if (end == piece.size()) break;
        end += character_at(piece, end).bytes;
      }
      if (!single) {
        if (!unknown_)
          return bad_input(fmt::format("model.unk_id: nothing, and {} is not in the vocabulary",
                                       in_quotes(piece.substr(at, one))));
        offer(at, at + one, *unknown_, least_ - unknown_penalty);
      }
      at += one;
    }
    std::vector<std::pair<std::size_t, std::size_t>> parts;  // from the last one on
    bool joins = false;
    for (std::size_t end = piece.size(); end > 0;) {
      const Node& node = best[end];
      const bool is_unknown = unknown_ && node.id == *unknown_;
      if (is_unknown && joins)
        parts.back().first = node.begin;
      else
        parts.emplace_back(node.begin, end);
      joins = is_unknown;
      end = node.begin;
    }
    for (auto part = parts.rbegin(); part != parts.rend(); ++part)
      DRIFTSCOPE_CHECK(add(piece.substr(part->first, part->second - part->first), tokens));
    return {};
  }

 private:
  Status add(std::string_view text, std::vector<Token>& tokens) const {
    if (const auto id = vocabulary_.find(text)) return tokens.push_back(*id), Status();
    std::vector<Token> bytes;
    for (const char c : text)
      if (const auto id = byte_fallback_
                              ? vocabulary_.find(fmt::format("<0x{:02X}>", static_cast<std::uint8_t>(c)))
                              : std::nullopt)
        bytes.push_back(*id);
    if (bytes.size() == text.size())
      tokens.insert(tokens.end(), bytes.begin(), bytes.end());
    else
      tokens.push_back(*unknown_);
    return {};
  }

  std::vector<double> scores_;
  double least_ = std::numeric_limits<double>::infinity();
  std::size_t longest_ = 0;
  std::optional<Token> unknown_;
  bool byte_fallback_ = false;
};

}  // namespace

Result<std::unique_ptr<TokenModel>> read_unigram(const Fields& fields) {
  auto model = std::make_unique<Unigram>();
  DRIFTSCOPE_CHECK(model->read(fields));
  return std::unique_ptr<TokenModel>(std::move(model));
}

}  // namespace driftscope::texts
