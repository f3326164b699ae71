#include <array>

#include "native/text/pattern.hpp"
#include "native/text/stages.hpp"
#include "native/text/unicode.hpp"

namespace driftscope::texts {
namespace {

using Test = bool (*)(std::int32_t);
using Cut = std::function<Result<std::vector<Part>>(std::string_view)>;

// Bytes that are printable stand for themselves, the others for U+0100 and on.
const std::array<std::int32_t, 256>& byte_alphabet() {
  static const auto made = [] {
    std::array<std::int32_t, 256> alphabet{};
    std::int32_t next = 0x100;
    for (std::int32_t b = 0; b < 256; ++b)
      alphabet[static_cast<std::size_t>(b)] =
          (b >= '!' && b <= '~') || (b >= 0xa1 && b <= 0xac) || b >= 0xae ? b : next++;
    return alphabet;
  }();
  return made;
}

std::vector<Part> parts_where(std::string_view text, Test test) {
  std::vector<Part> parts;
  for (std::size_t i = 0; i < text.size();) {
    const auto [code, bytes] = character_at(text, i);
    if (test(code))
      parts.push_back({i, i + bytes, true});
    else if (!parts.empty() && !parts.back().matches)
      parts.back().end += bytes;
    else
      parts.push_back({i, i + bytes, false});
    i += bytes;
  }
  return parts;
}

Status split(std::vector<Piece>& pieces, Behavior behavior, const Cut& cut) {
  std::vector<Piece> made;
  for (const Piece& piece : pieces) {
    DRIFTSCOPE_TRY(const auto parts, cut(piece.text));
    for (const Part& part : split_parts(parts, behavior))
      if (!part.matches && part.begin < part.end)
        made.push_back(
            {piece.text.substr(part.begin, part.end - part.begin), piece.first && part.begin == 0});
  }
  pieces = std::move(made);
  return {};
}

PreTokenizer splits_where(Test test, Behavior behavior) {
  return [=](std::vector<Piece>& pieces) {
    return split(pieces, behavior, [=](std::string_view text) { return Result(parts_where(text, test)); });
  };
}

PreTokenizer splits_at(const Pattern& pattern, Behavior behavior, bool invert) {
  return [=](std::vector<Piece>& pieces) {
    return split(pieces, behavior, [&](std::string_view text) -> Result<std::vector<Part>> {
      DRIFTSCOPE_TRY(auto parts, pattern.parts(text));
      if (invert)
        for (Part& part : parts) part.matches = !part.matches;
      return parts;
    });
  };
}

PreTokenizer in_turn(std::vector<PreTokenizer> steps) {
  return [steps = std::move(steps)](std::vector<Piece>& pieces) -> Status {
    for (const PreTokenizer& step : steps) DRIFTSCOPE_CHECK(step(pieces));
    return {};
  };
}

Result<PreTokenizer> byte_level(const Fields& fields) {
  DRIFTSCOPE_TRY(const bool prefix, fields.flag("add_prefix_space", true));
  DRIFTSCOPE_TRY(const bool use_regex, fields.flag("use_regex", true));
  // GPT-2's.
  DRIFTSCOPE_TRY(
      const Pattern words,
      Pattern::regex(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"));
  return PreTokenizer([=](std::vector<Piece>& pieces) -> Status {
    if (prefix)
      for (Piece& piece : pieces)
        if (!piece.text.starts_with(' ')) piece.text.insert(0, " ");
    if (use_regex) DRIFTSCOPE_CHECK(splits_at(words, Behavior::isolated, false)(pieces));
    for (Piece& piece : pieces) piece.text = bytes_as_characters(piece.text);
    return {};
  });
}

Result<PreTokenizer> metaspace(const Fields& fields) {
  DRIFTSCOPE_TRY(const std::string mark, fields.text("replacement"));
  DRIFTSCOPE_TRY(const bool old, fields.flag("add_prefix_space", true));
  DRIFTSCOPE_TRY(const std::string scheme, fields.text("prepend_scheme", old ? "always" : "never"));
  DRIFTSCOPE_TRY(const bool splits, fields.flag("split", true));
  if (scheme != "always" && scheme != "first" && scheme != "never")
    return unsupported(fmt::format("{}: expected always, first or never, found {}",
                                   fields.at("prepend_scheme"), in_quotes(scheme)));
  const Pattern space = Pattern::literal(" ");
  const Pattern marks = Pattern::literal(mark);
  return PreTokenizer([=](std::vector<Piece>& pieces) -> Status {
    for (Piece& piece : pieces) {
      DRIFTSCOPE_TRY(piece.text, space.replaced(piece.text, mark));
      const bool prepends = scheme == "always" || (scheme == "first" && piece.first);
      if (prepends && !piece.text.starts_with(mark)) piece.text.insert(0, mark);
    }
    if (!splits) return {};
    return splits_at(marks, Behavior::merged_with_next, false)(pieces);
  });
}

Result<PreTokenizer> split_at(const Fields& fields) {
  const Json* const json = fields.find("pattern");
  DRIFTSCOPE_TRY(const Pattern pattern,
                 Pattern::read(json == nullptr ? Json() : *json, fields.at("pattern")));
  DRIFTSCOPE_TRY(const std::string name, fields.text("behavior"));
  DRIFTSCOPE_TRY(const Behavior behavior, read_behavior(name, fields.where()));
  DRIFTSCOPE_TRY(const bool invert, fields.flag("invert", false));
  return splits_at(pattern, behavior, invert);
}

Result<PreTokenizer> pre_tokenizer_sequence(const Fields& fields) {
  DRIFTSCOPE_TRY(const auto entries, fields.list("pretokenizers"));
  std::vector<PreTokenizer> steps;
  for (const Fields& entry : entries) {
    DRIFTSCOPE_TRY(PreTokenizer step, read_pre_tokenizer(entry));
    steps.push_back(std::move(step));
  }
  return in_turn(std::move(steps));
}

}  // namespace

std::string bytes_as_characters(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) append_character(text, byte_alphabet()[static_cast<std::uint8_t>(byte)]);
  return text;
}

bool characters_as_bytes(std::string_view text, std::string& bytes) {
  static const auto places = [] {
    std::array<int, 0x200> made{};
    made.fill(-1);
    for (std::size_t b = 0; b < 256; ++b)
      made[static_cast<std::size_t>(byte_alphabet()[b])] = static_cast<int>(b);
    return made;
  }();
  std::string made;
  for (std::size_t i = 0; i < text.size();) {
    const auto [code, size] = character_at(text, i);
    if (code >= 0x200 || places[static_cast<std::size_t>(code)] < 0) return false;
    made += static_cast<char>(places[static_cast<std::size_t>(code)]);
    i += size;
  }
  bytes += made;
  return true;
}

Result<PreTokenizer> read_pre_tokenizer(const Fields& fields) {
  DRIFTSCOPE_TRY(const std::string type, fields.text("type"));
  if (type == "ByteLevel") return byte_level(fields);
  if (type == "Metaspace") return metaspace(fields);
  if (type == "Split") return split_at(fields);
  if (type == "Sequence") return pre_tokenizer_sequence(fields);
  if (type == "WhitespaceSplit") return splits_where(is_space, Behavior::removed);
  if (type == "BertPreTokenizer")
    return in_turn(
        {splits_where(is_space, Behavior::removed), splits_where(is_punctuation, Behavior::isolated)});
  if (type == "Whitespace") {
    DRIFTSCOPE_TRY(const Pattern words, Pattern::regex(R"([\w\x{200c}\x{200d}]+|[^\w\s\x{200c}\x{200d}]+)"));
    return splits_at(words, Behavior::removed, true);
  }
  if (type == "Punctuation") {
    DRIFTSCOPE_TRY(const std::string name, fields.text("behavior", "Isolated"));
    DRIFTSCOPE_TRY(const Behavior behavior, read_behavior(name, fields.where()));
    return splits_where(is_punctuation, behavior);
  }
  if (type == "Digits") {
    DRIFTSCOPE_TRY(const bool single, fields.flag("individual_digits", false));
    return splits_where(is_numeric, single ? Behavior::isolated : Behavior::contiguous);
  }
  if (type == "CharDelimiterSplit") {
    DRIFTSCOPE_TRY(const std::string delimiter, fields.text("delimiter"));
    return splits_at(Pattern::literal(delimiter), Behavior::removed, false);
  }
  return fields.unknown(type,
                        "BertPreTokenizer, ByteLevel, CharDelimiterSplit, Digits, Metaspace, Punctuation, "
                        "Sequence, Split, Whitespace, WhitespaceSplit");
}

}  // namespace driftscope::texts
