// What a study must be beyond its fields' types. Client: study_file.
#pragma once

#include "core/base/result.hpp"
#include "generated/documents/study.hpp"

namespace driftscope {

/// The first error, its place first: "models[0].name: expected …".
[[nodiscard]] Status check_study(const documents::Study& study);

}  // namespace driftscope
