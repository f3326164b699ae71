#include "native/text/added_tokens.hpp"

#include <algorithm>

#include "native/text/unicode.hpp"

namespace driftscope::texts {
namespace {

std::int32_t last_character(std::string_view text) {
  std::size_t at = text.size() - 1;
  while (at > 0 && (static_cast<std::uint8_t>(text[at]) & 0xc0) == 0x80) --at;
  return character_at(text, at).code;
}

}  // namespace

Status AddedTokens::read(const Fields& file, const Vocabulary& vocabulary, const Normalizer& normalizer) {
  DRIFTSCOPE_TRY(const auto entries, file.list("added_tokens"));
  for (const Fields& entry : entries) {
    One one;
    DRIFTSCOPE_TRY(one.text, entry.text("content"));
    DRIFTSCOPE_TRY(one.id, entry.whole("id"));
    DRIFTSCOPE_TRY(one.special, entry.flag("special", false));
    DRIFTSCOPE_TRY(one.single_word, entry.flag("single_word", false));
    DRIFTSCOPE_TRY(one.lstrip, entry.flag("lstrip", false));
    DRIFTSCOPE_TRY(one.rstrip, entry.flag("rstrip", false));
    DRIFTSCOPE_TRY(one.normalized, entry.flag("normalized", !one.special));
    if (one.text.empty()) continue;
    if (const auto known = vocabulary.find(one.text)) one.id = *known;
    Piece pattern{one.text, true};
    if (one.normalized && normalizer) DRIFTSCOPE_CHECK(normalizer(pattern));
    one.pattern = pattern.text;
    places_[one.id] = all_.size();
    all_.push_back(std::move(one));
  }
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (all_[i].pattern.empty()) continue;
    auto& list = by_byte_[all_[i].normalized ? 1 : 0][static_cast<std::uint8_t>(all_[i].pattern[0])];
    const auto at = std::ranges::find_if(
        list, [&](std::size_t other) { return all_[other].pattern.size() < all_[i].pattern.size(); });
    list.insert(at, i);
  }
  return {};
}

std::vector<AddedTokens::Found> AddedTokens::split(std::string_view text, bool normalized) const {
  std::vector<Found> found;
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto& list = by_byte_[normalized ? 1 : 0][static_cast<std::uint8_t>(text[at])];
    const auto match = std::ranges::find_if(
        list, [&](std::size_t i) { return text.compare(at, all_[i].pattern.size(), all_[i].pattern) == 0; });
    if (match == list.end()) {
      ++at;
      continue;
    }
    const One& one = all_[*match];
    std::size_t begin = at, end = at + one.pattern.size();
    at = end;
    if (one.single_word && ((begin > 0 && is_word_part(last_character(text.substr(0, begin)))) ||
                            (end < text.size() && is_word_part(character_at(text, end).code))))
      continue;
    while (one.lstrip && begin > done && is_space(last_character(text.substr(0, begin)))) {
      do --begin;
      while (begin > 0 && (static_cast<std::uint8_t>(text[begin]) & 0xc0) == 0x80);
    }
    while (one.rstrip && end < text.size() && is_space(character_at(text, end).code))
      end += character_at(text, end).bytes;
    if (done < begin) found.push_back({done, begin, std::nullopt});
    found.push_back({begin, end, one.id});
    done = end;
  }
  if (done < text.size()) found.push_back({done, text.size(), std::nullopt});
  return found;
}

const std::string* AddedTokens::text(Token id) const {
  const auto at = places_.find(id);
  // Of normalized ones the normalized text, as the library's decoding has it.
  return at == places_.end() ? nullptr : &all_[at->second].pattern;
}

bool AddedTokens::special(Token id) const {
  const auto at = places_.find(id);
  return at != places_.end() && all_[at->second].special;
}

}  // namespace driftscope::texts
