#include "native/cli/commands/parse_error.hpp"

#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

namespace driftscope {

Exit print_parse_error(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream out;
  std::ostringstream errors;
  const int code = app.exit(error, out, errors);
  // CLI11 says only that there is no command.
  if (error.get_name() == "RequiredError" && app.get_subcommands().empty())
    if (const std::vector<std::string> words = app.remaining(); !words.empty())
      errors << "There is no command '" << words.front() << "'.\n";
  print_text(stdout, out.str());
  print_text(stderr, errors.str());
  return code == 0 ? Exit::ok : Exit::bad_input;
}

}  // namespace driftscope
