// --max-memory, --max-time and --model-root: options of every command, and of the window. Clients:
// command_line, command_gui, the window's main.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "native/os/resource_limits.hpp"

namespace CLI {
class App;
}

namespace driftscope {

struct Limits {
  std::uint64_t memory = 0;  ///< bytes; 0: by what is free
  double seconds = 0.0;      ///< 0: none
  std::string model_root;    ///< empty: as the environment says
};

void add_limits(CLI::App& app, Limits& limits);

/// The limits apply from here on; the time limit ends with `time`, or ends the program.
void set_limits(const Limits& limits, std::optional<TimeLimit>& time);

/// Those of `app`'s limits that were given, as arguments again.
[[nodiscard]] std::vector<std::string> limit_arguments(const CLI::App& app);

}  // namespace driftscope
