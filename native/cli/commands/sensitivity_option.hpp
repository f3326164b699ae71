// --sensitivity and --no-sensitivity. Clients: compare, verify.
#pragma once

#include <CLI/CLI.hpp>

#include "core/verify/answer_sensitivity.hpp"

namespace driftscope {

/// Without either option it is computed where that is cheap.
void add_sensitivity_option(CLI::App& app, SensitivityWanted& wanted);

}  // namespace driftscope
