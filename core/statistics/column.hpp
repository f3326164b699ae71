// A file of numbers, one a line: what people have in a column of a table. Clients: the statistical tests, the
// command. It reads no files: the caller hands in the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace driftscope {

struct Column {
  std::string path;  ///< for messages
  std::string name;  ///< of the header line; empty without one
  std::vector<double> values;
  std::vector<std::int64_t> lines;  ///< from 1, of each value
};

/// Blank lines and what follows a '#' are skipped, the first line may be a header. Errors, with the line:
/// more than one number in a line, text, NaN and infinity. No number at all is an error too.
[[nodiscard]] Result<Column> parse_column(std::string_view text, std::string path);

/// "a.csv:17", for messages.
[[nodiscard]] std::string place_in(const Column& column, std::size_t i);

}  // namespace driftscope
