// What rounding does to a model's answer, in words. Clients: text tables, report, screens.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/verify/layer_verdict.hpp"

namespace driftscope {

/// One sentence: predicted, seen, or why it was left out.
[[nodiscard]] std::string answer_move_text(const AnswerMove& move);

/// "−2.4e-07": signed, with three digits; "–" where nothing is known.
[[nodiscard]] std::string move_text(double moved);

/// "31 %", "<0.1 %".
[[nodiscard]] std::string share_text(double share);

/// The layers with the largest shares, largest first; none without a share.
[[nodiscard]] std::vector<const LayerVerdict*> most_sensitive(const Verification& verification,
                                                              std::size_t limit);

}  // namespace driftscope
