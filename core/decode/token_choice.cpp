#include "core/decode/token_choice.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/verify/tensor_values.hpp"

namespace driftscope {

Result<std::optional<TokenChoice>> choose_token(const Tensor& logits) {
  const Shape& shape = logits.shape();
  if (shape.size() != 3 || shape[0] != 1 || shape[1] < 1 || shape[2] < 2 || !is_floating(logits.dtype()))
    return bad_input(fmt::format(
        "the logits are {} {}; expected floats [1, sequence, vocabulary] with a vocabulary of two or more",
        dtype_name(logits.dtype()), shape_text(shape)));
  const auto vocabulary = static_cast<std::size_t>(shape[2]);
  const std::size_t begin = static_cast<std::size_t>(shape[1] - 1) * vocabulary;
  std::optional<TokenChoice> choice;
  with_float_values(logits, [&](const auto& at) {
    double best = -INFINITY;
    double second = -INFINITY;
    TokenChoice made;
    for (std::size_t i = 0; i < vocabulary; ++i) {
      const double value = at(begin + i);
      if (std::isnan(value)) return;
      const auto token = static_cast<std::int64_t>(i);
      if (value > best || i == 0) {
        second = best;
        made.runner_up = made.token;
        best = value;
        made.token = token;
      } else if (value > second || i == 1) {
        second = value;
        made.runner_up = token;
      }
    }
    made.margin = best == second ? 0.0 : best - second;  // also of two infinities
    choice = made;
  });
  return choice;
}

Result<Tensor> last_position(const Tensor& logits) {
  const std::size_t row = logits.byte_size() / static_cast<std::size_t>(logits.shape()[1]);
  return Tensor::from_bytes(logits.dtype(), {1, 1, logits.shape()[2]}, logits.bytes().last(row));
}

double logit_lead(const Tensor& logits, std::int64_t a, std::int64_t b) {
  const auto vocabulary = static_cast<std::size_t>(logits.shape()[2]);
  const std::size_t begin = static_cast<std::size_t>(logits.shape()[1] - 1) * vocabulary;
  double lead = 0.0;
  with_float_values(logits, [&](const auto& at) {
    lead = at(begin + static_cast<std::size_t>(a)) - at(begin + static_cast<std::size_t>(b));
  });
  return lead;
}

}  // namespace driftscope
