// The output for a person while a command works: one progress line and coloured verdicts on a terminal,
// plain lines elsewhere. Results go to the standard output, everything else to the standard error.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/result.hpp"

namespace driftscope {

/// 0 no fault, 1 a fault or a failed check, 2 wrong use or bad input, 3 something needed is missing.
enum class Exit : int { ok = 0, fault = 1, bad_input = 2, missing = 3, interrupted = 130 };

[[nodiscard]] Exit exit_of(const Error& error);

/// Everything that commands print goes through here, as names and messages come from models, traces and
/// browsers: what a terminal or the log of GitHub Actions would take for a command is made harmless, verdict
/// words and symbols of our own are coloured where `out` is a terminal and NO_COLOR is not set.
void print_text(std::FILE* out, std::string_view text);

/// Our own commands for the log of GitHub Actions, whose texts are escaped already.
void print_annotations(std::FILE* out, std::string_view text);

[[nodiscard]] bool is_terminal(std::FILE* out);

template <class... Args>
void print_out(fmt::format_string<Args...> format, Args&&... args) {
  print_text(stdout, fmt::format(format, std::forward<Args>(args)...));
}

/// An error unless everything was written. A closed pipe, as with `| head`, is not an error.
[[nodiscard]] Status flush_output();

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

  /// `step` names the current work ("chrome/strict: running"); total 0: no share is shown. `seconds_left`: an
  /// estimate.
  void update(std::string_view step, std::int64_t done = 0, std::int64_t total = 0,
              std::optional<double> seconds_left = {});
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
