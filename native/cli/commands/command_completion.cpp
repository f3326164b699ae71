// driftscope completion bash|zsh|fish
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "native/cli/commands/commands.hpp"
#include "native/cli/manual.hpp"

namespace driftscope {

namespace commands::completion {

static Command declare(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  app.footer(
      "  eval \"$(driftscope completion bash)\"\n"
      "  driftscope completion fish > ~/.config/fish/completions/driftscope.fish\n\n"
      "An installed package has them all in place.");
  return [shell] {
    CLI::App whole;
    declare_commands(whole);
    print_out("{}", *shell == "bash"  ? bash_completion(whole)
                    : *shell == "zsh" ? zsh_completion(whole)
                                      : fish_completion(whole));
    return Exit::ok;
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 120,
             .name = "completion",
             .summary = "Print the completion script for a shell.",
             .declare = declare});
}

}  // namespace commands::completion

}  // namespace driftscope
