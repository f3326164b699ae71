// The cause of a fault: a faulty variant of the operator that computes exactly what was recorded, within its
// own budget at every element, and not by chance. Client: the judge of causes.
#pragma once

#include <optional>

#include "core/verify/explanation.hpp"
#include "core/verify/variant.hpp"

namespace driftscope {

struct CauseFound {
  LayerExplanation explanation;
  const Variant* variant = nullptr;  ///< of the cause; null without any
  VariantMatch match = {};
};

/// Tries the faulty variants, the simpler ones first; of equally simple ones the first that explains all
/// elements is the cause. Nothing where it cannot be told which elements are wrong (another type or shape).
/// `verdict`: of a layer that is suspect or a fault. `precision`: only variants with less accurate numbers,
/// for layers of which judges of sums have found that.
[[nodiscard]] std::optional<CauseFound> search_cause(const LayerCase& layer, const LayerVerdict& verdict,
                                                     bool precision);

}  // namespace driftscope
