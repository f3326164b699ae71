#include "core/dataset/text_preprocess.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/dataset/description_fields.hpp"

namespace driftscope {
namespace {

using nlohmann::json;

Result<TextPreprocess> read_text_rules(std::string_view json_text) {
  DRIFTSCOPE_TRY(const json object, parse_description_object(json_text));
  TextPreprocess how;
  DRIFTSCOPE_TRY(how.input, description_text(object, "input"));
  DRIFTSCOPE_TRY(const std::size_t dtype, description_choice(object, "dtype", {"int64", "int32"}));
  how.dtype = dtype == 0 ? DType::int64 : DType::int32;
  DRIFTSCOPE_TRY(how.length, description_size(object, "length"));
  DRIFTSCOPE_TRY(how.vocabulary, description_text(object, "vocabulary"));
  if (how.vocabulary.empty()) return bad_input("vocabulary does not name a file");
  DRIFTSCOPE_TRY(const auto first, description_index(object, "first_index"));
  how.first_index = first.value_or(0);
  DRIFTSCOPE_TRY(const auto pad, description_index(object, "pad"));
  if (!pad) return bad_input("pad, the index of padding, is missing");
  how.pad = *pad;
  DRIFTSCOPE_TRY(how.unknown, description_index(object, "unknown"));
  DRIFTSCOPE_TRY(const std::size_t side, description_choice(object, "pad_side", {"right", "left"}));
  how.pad_side = side == 0 ? Side::right : Side::left;
  DRIFTSCOPE_TRY(const std::size_t keep, description_choice(object, "keep", {"start", "end"}));
  how.keep = keep == 0 ? Side::left : Side::right;
  DRIFTSCOPE_TRY(how.remove, description_texts(object, "remove"));
  if (std::ranges::any_of(how.remove, &std::string::empty))
    return bad_input("remove contains an empty string");
  DRIFTSCOPE_TRY(how.labels, description_texts(object, "labels"));
  return how;
}

/// Replaces every occurrence of each of `pieces` by a space, in the order of the list.
std::string without(std::string_view text, const std::vector<std::string>& pieces) {
  std::string kept(text);
  for (const std::string& piece : pieces) {
    std::string next;
    std::size_t begin = 0;
    for (std::size_t at = 0; (at = kept.find(piece, begin)) != std::string::npos;) {
      next.append(kept, begin, at - begin).push_back(' ');
      begin = at + piece.size();
    }
    kept = next.append(kept, begin);
  }
  return kept;
}

/// The code point of a well-formed sequence of `length` bytes.
char32_t code_point(std::string_view bytes, std::size_t length) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  if (length == 1) return byte(0);
  auto point = static_cast<char32_t>(byte(0) & (0xff >> (length + 1)));
  for (std::size_t i = 1; i < length; ++i) point = (point << 6) | (byte(i) & 0x3f);
  return point;
}

/// What the character adds to a word; empty when it separates words.
std::string_view in_word(std::string_view character) {
  static constexpr std::string_view lower = "abcdefghijklmnopqrstuvwxyz";
  const char32_t point = code_point(character, character.size());
  const auto within = [point](char32_t low, char32_t high) { return point >= low && point <= high; };
  if (within('A', 'Z')) return lower.substr(point - 'A', 1);
  if (within('a', 'z') || within('0', '9') || point == '\'') return character;
  if (point == 0x2018 || point == 0x2019) return "'";
  const bool separates = point < 0xc0 || within(0x2000, 0x206f) || within(0x3000, 0x303f);
  return separates ? std::string_view() : character;
}

void add_word(std::vector<std::string>& words, const std::string& run) {
  const std::size_t first = run.find_first_not_of('\'');
  if (first == std::string::npos) return;
  words.push_back(run.substr(first, run.find_last_not_of('\'') - first + 1));
}

}  // namespace

bool describes_text(std::string_view json_text) {
  const json object = parse_json(json_text);
  if (!object.is_object()) return false;
  const auto kind = object.find("kind");
  return kind != object.end() && kind->is_string() && kind->get<std::string>() == "text";
}

Result<TextPreprocess> parse_text_preprocess(std::string_view json_text) {
  auto how = read_text_rules(json_text);
  if (!how.ok()) return in_context(std::move(how).error(), "preprocessing description");
  return how;
}

Result<std::vector<std::string>> words_of(std::string_view text, const std::vector<std::string>& remove) {
  const std::string kept = without(text, remove);
  std::vector<std::string> words;
  std::string run;
  for (std::size_t i = 0; i < kept.size();) {
    const std::size_t length = utf8_sequence(kept, i);
    if (length == 0) return bad_input("the text is not UTF-8; convert it");
    const std::string_view part = in_word(std::string_view(kept).substr(i, length));
    if (part.empty()) {
      add_word(words, run);
      run.clear();
    }
    run += part;
    i += length;
  }
  add_word(words, run);
  return words;
}

Result<Vocabulary> Vocabulary::read(std::span<const std::byte> bytes) {
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!valid_utf8(rest)) return bad_input("vocabulary: it is not UTF-8 text");
  Vocabulary vocabulary;
  for (std::int64_t place = 0; !rest.empty(); ++place) {
    const std::size_t end = rest.find('\n');
    std::string_view word = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (word.ends_with('\r')) word.remove_suffix(1);
    if (word.empty()) return bad_input(fmt::format("vocabulary: line {} is empty", place + 1));
    if (!vocabulary.places_.emplace(word, place).second)
      return bad_input(
          fmt::format("vocabulary: {} occurs twice, again in line {}", in_quotes(word), place + 1));
  }
  if (vocabulary.size() == 0) return bad_input("vocabulary: it contains no words");
  return vocabulary;
}

std::optional<std::int64_t> Vocabulary::find(std::string_view word) const {
  const auto place = places_.find(word);
  return place == places_.end() ? std::nullopt : std::optional(place->second);
}

Result<Tensor> encode(const TextPreprocess& how, const Vocabulary& vocabulary, std::string_view text) {
  DRIFTSCOPE_TRY(const std::vector<std::string> words, words_of(text, how.remove));
  DRIFTSCOPE_TRY(Tensor tensor, Tensor::make(how.dtype, {1, how.length}, "tokens"));
  const auto length = static_cast<std::size_t>(how.length);
  const std::size_t kept = std::min(words.size(), length);
  const std::size_t first = how.keep == Side::left ? 0 : words.size() - kept;
  const std::size_t start = how.pad_side == Side::right ? 0 : length - kept;
  for (std::size_t i = 0; i < length; ++i) {
    std::int64_t token = how.pad;
    if (i >= start && i < start + kept) {
      const std::string& word = words[first + i - start];
      const auto place = vocabulary.find(word);
      if (!place && !how.unknown)
        return bad_input(
            fmt::format("word {} of the text, {}, is not in the vocabulary, and the "
                        "description gives no index for unknown words",
                        first + i - start + 1, in_quotes(word)));
      token = place ? how.first_index + *place : *how.unknown;
    }
    if (how.dtype == DType::int64) {
      tensor.mutable_values<std::int64_t>()[i] = token;
    } else if (token > std::numeric_limits<std::int32_t>::max()) {
      return limit_error(fmt::format("index {} does not fit the description's int32", token));
    } else {
      tensor.mutable_values<std::int32_t>()[i] = static_cast<std::int32_t>(token);
    }
  }
  return tensor;
}

}  // namespace driftscope
