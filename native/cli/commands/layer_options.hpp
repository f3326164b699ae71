// The option --layers of commands that print layers. Clients: run, verify, compare.
#pragma once

#include <CLI/CLI.hpp>

#include "core/report/tables.hpp"

namespace driftscope {

/// Fills `choice` when the options are parsed; it must outlive the parser.
void add_layer_option(CLI::App& app, LayerChoice& choice);

}  // namespace driftscope
