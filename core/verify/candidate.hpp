// What a candidate of a variant computes on a layer's own inputs: with bounds, and in plain float32 to see
// whether bounds are worth their time. Clients: variant, causes.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/verify/variant.hpp"

namespace driftscope {

/// The output as the candidate has it, with its bounds; nothing where it does not apply or has another shape.
[[nodiscard]] std::optional<std::vector<Bounded>> bounds_of(const Candidate& candidate,
                                                            const LayerCase& layer,
                                                            const DerivationInputs& inputs);

/// The share of those bounds that what was recorded uses; nothing where a NaN or infinity is wrong.
[[nodiscard]] std::optional<BudgetUse> use_of(std::span<const Bounded> computed, const Candidate& candidate,
                                              const LayerCase& layer);

/// The output in plain float32; nothing where it does not apply or has another type or shape.
[[nodiscard]] std::optional<Tensor> float_result_of(const Candidate& candidate, const LayerCase& layer,
                                                    const DerivationInputs& inputs);

/// The output of a candidate that changes the error model or has one operator in place of the layer's group.
[[nodiscard]] std::optional<Evaluated<Bounded>> group_result_of(const Candidate& candidate,
                                                                const LayerCase& layer);

/// Element i of a candidate that rearranges the right output.
[[nodiscard]] Bounded element_of(const Candidate& candidate, std::span<const Bounded> right, std::int64_t i);

}  // namespace driftscope
