// Which token the logits of a step choose, and how sure they are. Clients: generation, its run.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/result.hpp"
#include "core/model/tensor.hpp"

namespace driftscope {

struct TokenChoice {
  std::int64_t token = 0;      ///< the largest logit's; of equal ones the first
  std::int64_t runner_up = 0;  ///< the second largest's
  double margin = 0.0;         ///< the largest less the second largest
};

/// Of the last position of [1, sequence, vocabulary]. Nothing where one of them is NaN. Errors: another
/// shape, fewer than two tokens, no floating type.
[[nodiscard]] Result<std::optional<TokenChoice>> choose_token(const Tensor& logits);

/// [1, 1, vocabulary]: the last position of logits that choose_token takes.
[[nodiscard]] Result<Tensor> last_position(const Tensor& logits);

/// Logit `a` less logit `b` of the last position, both of which exist.
[[nodiscard]] double logit_lead(const Tensor& logits, std::int64_t a, std::int64_t b);

}  // namespace driftscope
