// Why layers are wrong, for a terminal. Client: the command explain.
#pragma once

#include <string>

#include "core/verify/layer_verdict.hpp"

namespace driftscope {

/// A paragraph for each layer that is suspect or a fault; one line where there is none.
[[nodiscard]] std::string explanations_text(const Verification& verification, const std::string& trace);

}  // namespace driftscope
