#include <array>
#include <memory>

#include "native/text/stages.hpp"
#include "native/text/unicode.hpp"

namespace driftscope::texts {
namespace {

// RFC 4648, with or without padding.
Result<std::string> base64_bytes(const std::string& text, const std::string& where) {
  std::string bytes;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    if (c == '=') break;
    int value = -1;
    if (c >= 'A' && c <= 'Z') value = c - 'A';
    if (c >= 'a' && c <= 'z') value = c - 'a' + 26;
    if (c >= '0' && c <= '9') value = c - '0' + 52;
    if (c == '+') value = 62;
    if (c == '/') value = 63;
    if (value < 0) return bad_input(fmt::format("{}: expected base64, found {}", where, in_quotes({&c, 1})));
    bits = (bits << 6 | static_cast<std::uint32_t>(value)) & 0xffffff;
    held += 6;
    if (held >= 8) bytes += static_cast<char>(bits >> (held -= 8) & 0xff);
  }
  return bytes;
}

// A double array as Darts-clone stores it.
class CharsMap {
 public:
  CharsMap(std::vector<std::uint32_t> units, std::string texts)
      : units_(std::move(units)), texts_(std::move(texts)) {}

  // What the shortest prefix that is in the map becomes; nothing: none is.
  [[nodiscard]] const char* find(std::string_view key) const {
    std::size_t node = offset(units_[0]);
    for (const char c : key) {
      const auto byte = static_cast<std::uint8_t>(c);
      if (byte == 0) break;
      node ^= byte;
      if (node >= units_.size() || (units_[node] & 0x800000ffU) != byte) return nullptr;
      const std::uint32_t unit = units_[node];
      node ^= offset(unit);
      if (node >= units_.size()) return nullptr;
      if ((unit >> 8 & 1) == 0) continue;
      const std::size_t place = units_[node] & 0x7fffffff;
      return place < texts_.size() ? texts_.c_str() + place : nullptr;
    }
    return nullptr;
  }

 private:
  static std::size_t offset(std::uint32_t unit) {
    return static_cast<std::size_t>(unit >> 10) << ((unit & 0x200) >> 6);
  }
  std::vector<std::uint32_t> units_;
  std::string texts_;
};

}  // namespace

Result<Normalizer> read_charsmap(const Fields& fields) {
  const std::string where = fields.at("precompiled_charsmap");
  DRIFTSCOPE_TRY(const std::string encoded, fields.text("precompiled_charsmap"));
  DRIFTSCOPE_TRY(const std::string bytes, base64_bytes(encoded, where));
  const auto word = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (int i = 3; i >= 0; --i)
      value = value << 8 | static_cast<std::uint8_t>(bytes[at + static_cast<std::size_t>(i)]);
    return value;
  };
  if (bytes.size() < 8 || word(0) % 4 != 0 || word(0) == 0 || word(0) > bytes.size() - 4)
    return bad_input(fmt::format("{}: expected the size of a trie, the trie and texts; found {} bytes{}",
                                 where, bytes.size(),
                                 bytes.size() < 4 ? "" : fmt::format(", a trie of {}", word(0))));
  std::vector<std::uint32_t> units(word(0) / 4);
  for (std::size_t i = 0; i < units.size(); ++i) units[i] = word(4 + 4 * i);
  const auto map = std::make_shared<CharsMap>(std::move(units), bytes.substr(4 + word(0)));
  return Normalizer([map](Piece& piece) -> Status {
    const std::string_view text = piece.text;
    std::string made;
    std::vector<std::size_t> starts = graphemes(text);
    starts.push_back(text.size());
    for (std::size_t g = 0; g + 1 < starts.size(); ++g) {
      const std::string_view grapheme = text.substr(starts[g], starts[g + 1] - starts[g]);
      if (const char* const by = grapheme.size() < 6 ? map->find(grapheme) : nullptr; by != nullptr) {
        made += by;
        continue;
      }
      for (std::size_t i = 0; i < grapheme.size();) {
        const std::size_t bytes_here = character_at(grapheme, i).bytes;
        const std::string_view one = grapheme.substr(i, bytes_here);
        const char* const by = map->find(one);
        if (by != nullptr)
          made += by;
        else
          made += one;
        i += bytes_here;
      }
    }
    piece.text = std::move(made);
    return {};
  });
}

}  // namespace driftscope::texts
