// What lut8 and lut4 share. Client: these modes.
#pragma once

#include "core/quantize/weights.hpp"

namespace driftscope::quantize {

/// Weights as a table of 2^bits floats and indices of that many bits; everything is computed in float.
[[nodiscard]] Status apply_lut(ModelEdit& edit, const ModeOptions& options, int bits,
                               std::vector<std::string>& notes);

}  // namespace driftscope::quantize
