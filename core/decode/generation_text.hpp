// The results of `driftscope generate` as text. Clients: the command.
#pragma once

#include <string>
#include <vector>

#include "generated/documents/generate.hpp"

namespace driftscope {

/// A row for each target, then where tokens differ, then a map of steps and of the layers that are worse
/// than rounding in one of them.
[[nodiscard]] std::string generation_text(const documents::Generate& results);

/// The tokens of each prompt and target, a line each.
[[nodiscard]] std::string token_lines(const documents::Generate& results);

/// The columns of the table of targets, and a target's row.
[[nodiscard]] std::vector<std::string> target_titles();
[[nodiscard]] std::vector<std::string> target_cells(const documents::Generate& results,
                                                    const documents::GenerateTarget& target);

/// "278 ' the'", or without a tokenizer "278".
[[nodiscard]] std::string named_token(const documents::Generate& results, std::int64_t token);

/// What the target made of its own, or where it did not decode freely what it chose in each step.
[[nodiscard]] std::vector<std::int64_t> tokens_of(const documents::GenerateSequence& sequence);

}  // namespace driftscope
