// What a tokenizer does around its model: normalizers, pre-tokenizers and decoders of tokenizer.json.
// Behaviour as of the library tokenizers 0.23. Clients: Tokenizer.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "native/text/fields.hpp"

namespace driftscope::texts {

/// A part of a text on its way to the model. `first`: it begins where the whole text began.
struct Piece {
  std::string text;
  bool first = false;
};

using Normalizer = std::function<Status(Piece&)>;
using PreTokenizer = std::function<Status(std::vector<Piece>&)>;
using TokenDecoder = std::function<Status(std::vector<std::string>&)>;

[[nodiscard]] Result<Normalizer> read_normalizer(const Fields& fields);
[[nodiscard]] Result<PreTokenizer> read_pre_tokenizer(const Fields& fields);
[[nodiscard]] Result<TokenDecoder> read_decoder(const Fields& fields);

/// SentencePiece's map of characters, as base64 of a double array and of texts that end with a 0.
[[nodiscard]] Result<Normalizer> read_charsmap(const Fields& fields);

/// Each byte as a character of the alphabet that byte-level models have (GPT-2's bytes_to_unicode).
[[nodiscard]] std::string bytes_as_characters(std::string_view bytes);
/// And back; false: a character is not of that alphabet, `bytes` is untouched.
[[nodiscard]] bool characters_as_bytes(std::string_view text, std::string& bytes);

}  // namespace driftscope::texts
