#include <array>
#include <charconv>
#include <utility>

#include "native/text/pattern.hpp"
#include "native/text/stages.hpp"
#include "native/text/unicode.hpp"

namespace driftscope::texts {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty()) return;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// "<0x0A>"
std::optional<char> byte_of(const std::string& token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
  std::uint8_t byte = 0;
  const auto [end, error] = std::from_chars(token.data() + 3, token.data() + 5, byte, 16);
  if (error != std::errc() || end != token.data() + 5) return std::nullopt;
  return static_cast<char>(byte);
}

Status byte_level_text(std::vector<std::string>& tokens) {
  std::string bytes;
  for (const std::string& token : tokens)
    if (!characters_as_bytes(token, bytes)) bytes += token;
  tokens = {lossy_utf8(bytes)};
  return {};
}

Status byte_fallback(std::vector<std::string>& tokens) {
  std::vector<std::string> made;
  std::string bytes;
  const auto flush = [&] {
    if (bytes.empty()) return;
    if (valid_utf8(bytes))
      made.push_back(bytes);
    else
      made.insert(made.end(), bytes.size(), "\xef\xbf\xbd");
    bytes.clear();
  };
  for (std::string& token : tokens) {
    if (const auto byte = byte_of(token)) {
      bytes += *byte;
      continue;
    }
    flush();
    made.push_back(std::move(token));
  }
  flush();
  tokens = std::move(made);
  return {};
}

Status fuse(std::vector<std::string>& tokens) {
  std::string whole;
  for (const std::string& token : tokens) whole += token;
  tokens = {std::move(whole)};
  return {};
}

Result<TokenDecoder> metaspace_decoder(const Fields& fields) {
  DRIFTSCOPE_TRY(const std::string mark, fields.text("replacement"));
  DRIFTSCOPE_TRY(const bool old, fields.flag("add_prefix_space", true));
  DRIFTSCOPE_TRY(const std::string scheme, fields.text("prepend_scheme", old ? "always" : "never"));
  return TokenDecoder([=](std::vector<std::string>& tokens) -> Status {
    for (std::size_t i = 0; i < tokens.size(); ++i)
      replace_all(tokens[i], mark, i == 0 && scheme != "never" ? "" : " ");
    return {};
  });
}

void clean_up(std::string& token) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> rules = {{{" .", "."},
                                                                                    {" ?", "?"},
                                                                                    {" !", "!"},
                                                                                    {" ,", ","},
                                                                                    {" ' ", "'"},
                                                                                    {" n't", "n't"},
                                                                                    {" 'm", "'m"},
                                                                                    {" do not", " don't"},
                                                                                    {" 's", "'s"},
                                                                                    {" 've", "'ve"},
                                                                                    {" 're", "'re"}}};
  for (const auto& [from, to] : rules) replace_all(token, from, to);
}

Result<TokenDecoder> word_piece_decoder(const Fields& fields) {
  DRIFTSCOPE_TRY(const std::string prefix, fields.text("prefix", "##"));
  DRIFTSCOPE_TRY(const bool cleanup, fields.flag("cleanup", true));
  return TokenDecoder([=](std::vector<std::string>& tokens) -> Status {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0)
        tokens[i] = tokens[i].starts_with(prefix) ? tokens[i].substr(prefix.size()) : " " + tokens[i];
      if (cleanup) clean_up(tokens[i]);
    }
    return {};
  });
}

Result<TokenDecoder> strip_decoder(const Fields& fields) {
  DRIFTSCOPE_TRY(const std::string content, fields.text("content"));
  DRIFTSCOPE_TRY(const std::int64_t start, fields.whole("start"));
  DRIFTSCOPE_TRY(const std::int64_t stop, fields.whole("stop"));
  if (content.empty())
    return bad_input(fmt::format("{}: expected a character, found an empty text", fields.at("content")));
  return TokenDecoder([=](std::vector<std::string>& tokens) -> Status {
    for (std::string& token : tokens) {
      for (std::int64_t i = 0; i < start && token.starts_with(content); ++i) token.erase(0, content.size());
      for (std::int64_t i = 0; i < stop && token.ends_with(content); ++i)
        token.resize(token.size() - content.size());
    }
    return {};
  });
}

Result<TokenDecoder> replace_decoder(const Fields& fields) {
  const Json* const json = fields.find("pattern");
  DRIFTSCOPE_TRY(const Pattern pattern,
                 Pattern::read(json == nullptr ? Json() : *json, fields.at("pattern")));
  DRIFTSCOPE_TRY(const std::string by, fields.text("content"));
  return TokenDecoder([=](std::vector<std::string>& tokens) -> Status {
    for (std::string& token : tokens) {
      DRIFTSCOPE_TRY(token, pattern.replaced(token, by));
    }
    return {};
  });
}

Result<TokenDecoder> bpe_decoder(const Fields& fields) {
  DRIFTSCOPE_TRY(const std::string suffix, fields.text("suffix", "</w>"));
  return TokenDecoder([=](std::vector<std::string>& tokens) -> Status {
    for (std::size_t i = 0; i < tokens.size(); ++i)
      replace_all(tokens[i], suffix, i + 1 == tokens.size() ? "" : " ");
    return {};
  });
}

Result<TokenDecoder> decoder_sequence(const Fields& fields) {
  DRIFTSCOPE_TRY(const auto entries, fields.list("decoders"));
  std::vector<TokenDecoder> steps;
  for (const Fields& entry : entries) {
    DRIFTSCOPE_TRY(TokenDecoder step, read_decoder(entry));
    steps.push_back(std::move(step));
  }
  return TokenDecoder([=](std::vector<std::string>& tokens) -> Status {
    for (const TokenDecoder& step : steps) DRIFTSCOPE_CHECK(step(tokens));
    return {};
  });
}

}  // namespace

Result<TokenDecoder> read_decoder(const Fields& fields) {
  DRIFTSCOPE_TRY(const std::string type, fields.text("type"));
  if (type == "ByteLevel") return TokenDecoder(byte_level_text);
  if (type == "ByteFallback") return TokenDecoder(byte_fallback);
  if (type == "Fuse") return TokenDecoder(fuse);
  if (type == "Metaspace") return metaspace_decoder(fields);
  if (type == "WordPiece") return word_piece_decoder(fields);
  if (type == "Strip") return strip_decoder(fields);
  if (type == "Replace") return replace_decoder(fields);
  if (type == "BPEDecoder") return bpe_decoder(fields);
  if (type == "Sequence") return decoder_sequence(fields);
  return fields.unknown(
      type, "BPEDecoder, ByteFallback, ByteLevel, Fuse, Metaspace, Replace, Sequence, Strip, WordPiece");
}

}  // namespace driftscope::texts
