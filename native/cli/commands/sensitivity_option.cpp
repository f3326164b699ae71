#include "native/cli/commands/sensitivity_option.hpp"

#include <fmt/format.h>

namespace driftscope {

void add_sensitivity_option(CLI::App& app, SensitivityWanted& wanted) {
  wanted = SensitivityWanted::when_cheap;
  app.add_flag_callback(
      "--sensitivity", [&wanted] { wanted = SensitivityWanted::always; },
      fmt::format("How far the rounding of each layer can move the answer, to first order, predicted before "
                  "targets run. It takes a gradient of the model in double: by itself up to {:.0f} million "
                  "multiplications a run",
                  cheap_multiply_adds / 1e6));
  app.add_flag_callback(
         "--no-sensitivity", [&wanted] { wanted = SensitivityWanted::never; },
         "Leave that out, also where it is cheap")
      ->excludes("--sensitivity");
}

}  // namespace driftscope
