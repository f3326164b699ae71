// Manual pages and shell completions, made from the same declarations as --help.
// Clients: the commands manual and completion.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace driftscope {

/// A page of section 1 in man(7)'s macros; `name`: "driftscope-compare".
[[nodiscard]] std::string manual_page(const CLI::App& app, const std::string& name);

/// Scripts that complete commands, options and the words of options that take one of a few.
[[nodiscard]] std::string bash_completion(const CLI::App& app);
[[nodiscard]] std::string zsh_completion(const CLI::App& app);
[[nodiscard]] std::string fish_completion(const CLI::App& app);

}  // namespace driftscope
