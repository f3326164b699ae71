// The commands of `driftscope`: commands/command_FOO.cpp defines `commands::foo::add_to(CommandTable&)`, and
// the table is generated from the folder (cmake/registry.cmake). A command declares its options on the app
// and returns the action to run when it is chosen. Clients: command_line.cpp.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "native/cli/console.hpp"

namespace CLI {
class App;
}

namespace driftscope {

using Command = std::function<Exit()>;

struct CommandInfo {
  int order = 0;  ///< in the help, smallest first
  std::string_view name;
  std::string_view summary;  ///< a sentence
  Command (*declare)(CLI::App&) = nullptr;
};

class CommandTable {
 public:
  void add(const CommandInfo& command) { commands_.push_back(command); }
  [[nodiscard]] const std::vector<CommandInfo>& all() const { return commands_; }

 private:
  std::vector<CommandInfo> commands_;
};

/// Declares the whole command line on an app of one's own, for commands that describe it.
void declare_commands(CLI::App& app);

/// All commands, in no order.
[[nodiscard]] const CommandTable& command_table();

}  // namespace driftscope
