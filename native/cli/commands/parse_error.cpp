#include "native/cli/commands/parse_error.hpp"

#include <cstdio>
#include <sstream>

namespace driftscope {

Exit print_parse_error(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream out;
  std::ostringstream errors;
  const int code = app.exit(error, out, errors);
  print_text(stdout, out.str());
  print_text(stderr, errors.str());
  return code == 0 ? Exit::ok : Exit::bad_input;
}

}  // namespace driftscope
