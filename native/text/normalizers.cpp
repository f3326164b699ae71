#include "native/text/pattern.hpp"
#include "native/text/stages.hpp"
#include "native/text/unicode.hpp"

namespace driftscope::texts {
namespace {

using Keep = bool (*)(std::int32_t);

// The characters that `keep` wants; a text that loses its start no longer begins where the whole did.
void filter(Piece& piece, Keep keep) {
  std::string kept;
  for (std::size_t i = 0; i < piece.text.size();) {
    const auto [code, bytes] = character_at(piece.text, i);
    if (keep(code))
      kept.append(piece.text, i, bytes);
    else if (kept.empty())
      piece.first = false;
    i += bytes;
  }
  piece.text = std::move(kept);
}

void map_characters(Piece& piece, const std::function<void(std::int32_t, std::string&)>& map) {
  std::string made;
  for (std::size_t i = 0; i < piece.text.size();) {
    const auto [code, bytes] = character_at(piece.text, i);
    map(code, made);
    i += bytes;
  }
  piece.text = std::move(made);
}

bool is_chinese(std::int32_t c) {
  return (c >= 0x4e00 && c <= 0x9fff) || (c >= 0x3400 && c <= 0x4dbf) || (c >= 0x20000 && c <= 0x2a6df) ||
         (c >= 0x2a700 && c <= 0x2b73f) || (c >= 0x2b740 && c <= 0x2b81f) || (c >= 0x2b920 && c <= 0x2ceaf) ||
         (c >= 0xf900 && c <= 0xfaff) || (c >= 0x2f800 && c <= 0x2fa1f);
}

bool bert_keeps(std::int32_t c) {
  if (c == '\t' || c == '\n' || c == '\r') return true;
  return c != 0 && c != 0xfffd && !is_other(c);
}

Result<Normalizer> bert(const Fields& fields) {
  DRIFTSCOPE_TRY(const bool clean, fields.flag("clean_text", true));
  DRIFTSCOPE_TRY(const bool chinese, fields.flag("handle_chinese_chars", true));
  DRIFTSCOPE_TRY(const bool lower, fields.flag("lowercase", true));
  DRIFTSCOPE_TRY(const bool strip, fields.flag("strip_accents", lower));
  return Normalizer([=](Piece& piece) -> Status {
    if (clean) {
      filter(piece, bert_keeps);
      map_characters(
          piece, [](std::int32_t c, std::string& made) { append_character(made, is_space(c) ? ' ' : c); });
    }
    if (chinese)
      map_characters(piece, [](std::int32_t c, std::string& made) {
        if (is_chinese(c)) made += ' ';
        append_character(made, c);
        if (is_chinese(c)) made += ' ';
      });
    if (strip) {
      piece.text = normal_form(piece.text, NormalForm::nfd);
      filter(piece, [](std::int32_t c) { return !is_nonspacing(c); });
    }
    if (lower) piece.text = lower_case(piece.text);
    return {};
  });
}

bool nmt_keeps(std::int32_t c) {
  return !((c >= 1 && c <= 8) || c == 0xb || (c >= 0xe && c <= 0x1f) || c == 0x7f || c == 0x8f || c == 0x9f);
}

std::int32_t nmt_maps(std::int32_t c) {
  const bool space = c == 9 || c == 0xa || c == 0xc || c == 0xd || c == 0x1680 ||
                     (c >= 0x200b && c <= 0x200f) || c == 0x2028 || c == 0x2029 || c == 0x2581 ||
                     c == 0xfeff || c == 0xfffd;
  return space ? ' ' : c;
}

Normalizer normalizes_to(NormalForm form) {
  return [form](Piece& piece) -> Status {
    piece.text = normal_form(piece.text, form);
    return {};
  };
}

Result<Normalizer> strip(const Fields& fields) {
  DRIFTSCOPE_TRY(const bool left, fields.flag("strip_left", true));
  DRIFTSCOPE_TRY(const bool right, fields.flag("strip_right", true));
  return Normalizer([=](Piece& piece) -> Status {
    std::size_t begin = piece.text.size(), end = 0;
    for (std::size_t i = 0; i < piece.text.size();) {
      const auto [code, bytes] = character_at(piece.text, i);
      if (!is_space(code)) begin = std::min(begin, i), end = i + bytes;
      i += bytes;
    }
    if (!left) begin = 0;
    if (!right) end = piece.text.size();
    if (begin > 0) piece.first = false;
    piece.text = begin < end ? piece.text.substr(begin, end - begin) : std::string();
    return {};
  });
}

Result<Normalizer> replace(const Fields& fields) {
  const Json* const pattern = fields.find("pattern");
  DRIFTSCOPE_TRY(const Pattern what,
                 Pattern::read(pattern == nullptr ? Json() : *pattern, fields.at("pattern")));
  DRIFTSCOPE_TRY(const std::string by, fields.text("content"));
  return Normalizer([=](Piece& piece) -> Status {
    DRIFTSCOPE_TRY(piece.text, what.replaced(piece.text, by));
    return {};
  });
}

Result<Normalizer> sequence(const Fields& fields) {
  DRIFTSCOPE_TRY(const auto entries, fields.list("normalizers"));
  std::vector<Normalizer> steps;
  for (const Fields& entry : entries) {
    DRIFTSCOPE_TRY(Normalizer step, read_normalizer(entry));
    steps.push_back(std::move(step));
  }
  return Normalizer([=](Piece& piece) -> Status {
    for (const Normalizer& step : steps) DRIFTSCOPE_CHECK(step(piece));
    return {};
  });
}

}  // namespace

Result<Normalizer> read_normalizer(const Fields& fields) {
  DRIFTSCOPE_TRY(const std::string type, fields.text("type"));
  if (type == "BertNormalizer") return bert(fields);
  if (type == "NFC") return normalizes_to(NormalForm::nfc);
  if (type == "NFD") return normalizes_to(NormalForm::nfd);
  if (type == "NFKC") return normalizes_to(NormalForm::nfkc);
  if (type == "NFKD") return normalizes_to(NormalForm::nfkd);
  if (type == "Strip") return strip(fields);
  if (type == "Replace") return replace(fields);
  if (type == "Sequence") return sequence(fields);
  if (type == "Precompiled") return read_charsmap(fields);
  if (type == "Lowercase")
    return Normalizer([](Piece& piece) -> Status { return piece.text = lower_case(piece.text), Status(); });
  if (type == "StripAccents")
    return Normalizer([](Piece& piece) -> Status {
      return filter(piece, [](std::int32_t c) { return !is_mark(c); }), Status();
    });
  if (type == "Nmt")
    return Normalizer([](Piece& piece) -> Status {
      filter(piece, nmt_keeps);
      map_characters(piece, [](std::int32_t c, std::string& made) { append_character(made, nmt_maps(c)); });
      return {};
    });
  if (type == "ByteLevel")
    return Normalizer(
        [](Piece& piece) -> Status { return piece.text = bytes_as_characters(piece.text), Status(); });
  if (type == "Prepend") {
    DRIFTSCOPE_TRY(const std::string front, fields.text("prepend"));
    return Normalizer([=](Piece& piece) -> Status {
      if (!piece.text.empty()) piece.text.insert(0, front);
      return {};
    });
  }
  return fields.unknown(type,
                        "BertNormalizer, ByteLevel, Lowercase, NFC, NFD, NFKC, NFKD, Nmt, Precompiled, "
                        "Prepend, Replace, Sequence, Strip, StripAccents");
}

}  // namespace driftscope::texts
