// What a cell of a table shows: "accuracy:original:int8" is the accuracy on the data set named original of
// the variant int8. Clients: study_file, the tables of a study.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace driftscope {

enum class MeasureKind {
  nothing,        ///< "-": nothing is measured here
  accuracy,       ///< share of right answers
  time,           ///< seconds for 10,000 inferences
  first,          ///< seconds of the first inference
  load,           ///< seconds from the start of a run until it may begin
  memory,         ///< the peak, bytes
  size,           ///< of the model's file, bytes
  difference,     ///< mean of |output − that on the study's first target|
  relative,       ///< the same ÷ |output there|
  success,        ///< share of attacked samples that were fooled; the data is the attack's name
  misclassified,  ///< share of samples with another class than on the first target
  making,         ///< seconds for making 1,000 adversarials; the data is the attack's name
  robustness,     ///< R by Eq. 1 and 2 of Guo et al.: among the targets, over all attacks on the model
  converted,      ///< R by Eq. 4 of Openja et al.: among all models and targets but the first
};

struct Measure {
  MeasureKind kind = MeasureKind::nothing;
  std::string data;     ///< empty: the model's first
  std::string variant;  ///< empty: float32
};

/// Errors: kinds that do not exist.
[[nodiscard]] Result<Measure> parse_measure(std::string_view text);

}  // namespace driftscope
