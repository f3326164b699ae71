// Puts texts beside the tokens of a generation. Client: the command generate.
#pragma once

#include "generated/documents/generate.hpp"
#include "native/text/tokenizer.hpp"

namespace driftscope {

/// Fills in the texts of prompts, of answers and of all tokens that occur.
[[nodiscard]] Status add_texts(const Tokenizer& tokenizer, documents::Generate& results);

}  // namespace driftscope
