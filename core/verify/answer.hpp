// What a model answers, and whether two targets answer the same. The largest element is an answer only
// where the output is a row of classes: of a picture, of boxes or of an embedding it says nothing. Clients:
// compare; headline, checks and the screens show it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/graph/graph.hpp"
#include "core/model/tensor.hpp"

namespace driftscope {

enum class AnswerKind {
  classes,  ///< a best class of each row, or labels
  map,      ///< a class at each place of a picture
  boxes,    ///< a detector's: their order says nothing
  tokens,   ///< a best class of each step of a sequence, or token ids
  numbers,  ///< anything else
};
inline constexpr std::array<std::string_view, 5> answer_kind_names = {"classes", "map", "boxes", "tokens",
                                                                      "numbers"};
[[nodiscard]] constexpr std::string_view answer_kind_name(AnswerKind kind) {
  return answer_kind_names[static_cast<std::size_t>(kind)];
}
[[nodiscard]] constexpr std::optional<AnswerKind> answer_kind_named(std::string_view name) {
  for (std::size_t i = 0; i < answer_kind_names.size(); ++i)
    if (answer_kind_names[i] == name) return static_cast<AnswerKind>(i);
  return std::nullopt;
}

/// What the first output of a model is, by its type, shape and name, the node that makes it, and the names of
/// the other outputs. `answer`: what a target recorded for it.
[[nodiscard]] AnswerKind answer_kind(const Graph& graph, const Tensor& answer);

/// Whether two targets answer the same.
struct OutputAgreement {
  std::int64_t top1_left = -1;  ///< best class of the first row along the last axis (top1.hpp)
  std::int64_t top1_right = -1;
  bool agree = false;                   ///< all answers are the same, or ties; of a map nearly all
  std::optional<AnswerKind> kind = {};  ///< nothing where it was not compared, or by an earlier version
  std::int64_t answers = 0;             ///< rows, steps or places
  std::int64_t different = 0;           ///< how many of these have another class; ties are none
};

/// Where the best two of a row are apart by at most two units in the last place on either side, either is
/// right. Of a map a hundredth of the places may differ: rounding moves borders.
[[nodiscard]] OutputAgreement answer_agreement(const Graph& graph, const Tensor& left, const Tensor& right);

/// As `agree`; nothing where the output is no class, map of classes or tokens, or has no answer on both
/// sides.
[[nodiscard]] std::optional<bool> same_answer(const OutputAgreement& output);

}  // namespace driftscope
