// What CLI11 says of arguments. Clients: the command line, the window.
#pragma once

#include <CLI/CLI.hpp>

#include "native/cli/console.hpp"

namespace driftscope {

/// Prints help, version or the mistake, which quotes arguments that may be untrusted file names; everything
/// but help and version is wrong use.
[[nodiscard]] Exit print_parse_error(const CLI::App& app, const CLI::ParseError& error);

}  // namespace driftscope
