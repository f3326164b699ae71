// The command line of `driftscope`: its commands, its help, and the result of the chosen command.
// Client: main.cpp.
#pragma once

#include "native/cli/console.hpp"

namespace driftscope {

/// Parses the arguments and carries out the command; help, version and mistakes are printed.
[[nodiscard]] Exit run_command_line(int argc, char** argv);

}  // namespace driftscope
