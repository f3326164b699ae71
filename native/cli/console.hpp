// The output for a person while a command works: one progress line and coloured verdicts on a terminal,
// plain lines elsewhere. Results go to the standard output, everything else to the standard error.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace driftscope {

/// 0 no fault, 1 a fault or a failed check, 2 wrong use or bad input, 3 something needed is missing.
enum class Exit : int { ok = 0, fault = 1, bad_input = 2, missing = 3, interrupted = 130 };

[[nodiscard]] Exit exit_of(const Error& error);

/// Colours are used when the stream is a terminal and NO_COLOR is not set.
[[nodiscard]] bool colours_on_stdout();

/// The text with verdict words and symbols coloured, when colours are on.
[[nodiscard]] std::string with_colours(std::string text);

/// "driftscope: message" on the standard error.
void print_error(const Error& error);

/// A line that is overwritten during the work; if the output is not a terminal, one line per
/// step. Removed when it ends.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// `step` names the current work ("chrome/strict: running"); total 0: no share is shown.
  void update(std::string_view step, std::int64_t done = 0, std::int64_t total = 0);
  /// Removes the line, so that other text can be printed.
  void clear();

 private:
  bool quiet_;
  bool terminal_;
  std::string step_;
  std::chrono::steady_clock::time_point last_{};
  bool shown_ = false;
};

}  // namespace driftscope
