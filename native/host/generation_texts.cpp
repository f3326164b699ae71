#include "native/host/generation_texts.hpp"

#include <set>

#include "core/base/text.hpp"
#include "core/decode/generation_text.hpp"

namespace driftscope {
namespace {

// Bytes of half a character as \\xNN; a token that is UTF-8 as it is.
std::string shown_text(const std::string& text) {
  if (valid_utf8(text)) return text;
  const std::string quoted = in_quotes(text, text.size());
  return quoted.substr(1, quoted.size() - 2);
}

}  // namespace

Status add_texts(const Tokenizer& tokenizer, documents::Generate& results) {
  std::set<std::int64_t> seen;
  for (documents::GenerateTarget& target : results.targets)
    for (documents::GenerateSequence& sequence : target.sequences) {
      const std::vector<std::int64_t> answer = tokens_of(sequence);
      DRIFTSCOPE_TRY(sequence.prompt_text, tokenizer.decode(sequence.prompt));
      DRIFTSCOPE_TRY(sequence.text, tokenizer.decode(answer));
      seen.insert(sequence.prompt.begin(), sequence.prompt.end());
      seen.insert(answer.begin(), answer.end());
      for (const documents::GenerateStep& step : sequence.steps)
        seen.insert({step.token, step.reference_token});
    }
  for (const std::int64_t token : seen)
    if (const auto text = tokenizer.token_text(token)) results.tokens.push_back({token, shown_text(*text)});
  return {};
}

}  // namespace driftscope
