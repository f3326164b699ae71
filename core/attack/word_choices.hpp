// Which words may stand for which: the nearest in the model's own embedding. Client: native/host/attack_run.
#pragma once

#include <span>

#include "core/attack/attack.hpp"
#include "core/graph/graph.hpp"

namespace driftscope {

/// For the tokens in `used`: their `count` nearest neighbours, by Euclidean distance between rows of the
/// table from which the model's Gather reads its tokens. Tokens below `first` are no words; the next
/// `frequent` ones are never replaced. Errors: the graph has no such table of floats.
[[nodiscard]] Result<WordChoices> nearest_words(const Graph& graph, std::span<const std::int64_t> used,
                                                std::int64_t first, std::int64_t frequent, std::int64_t pad,
                                                std::size_t count);

}  // namespace driftscope
