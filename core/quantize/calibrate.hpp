// Ranges of a model's values over calibration data, sample by sample: nothing of a sample is kept but its
// extremes and the counts of a histogram. Client: study. Methods that need a histogram run the data twice,
// first for its extent, so that the result does not depend on the order of the samples.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/inputs/input_source.hpp"
#include "core/quantize/calibration_method.hpp"

namespace driftscope::quantize {

/// step, done, total; false stops the work.
using Watch = std::function<bool(std::string_view step, std::int64_t done, std::int64_t total)>;

/// Of samples 0 to `samples` − 1. Errors: a sample of another shape than the model's, a value that was NaN or
/// infinite (names value and sample), a cancelled run.
[[nodiscard]] Result<std::map<std::string, ValueRange>> calibrate(
    const Model& model, const std::vector<std::string>& values, const InputSource& data, std::int64_t samples,
    const Method& method, const MethodOptions& options, const Watch& watch);

}  // namespace driftscope::quantize
