#include "native/cli/console.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/base/format.hpp"
#include "core/base/text.hpp"

namespace driftscope {
namespace {

std::size_t terminal_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20) return 80;
  return size.ws_col;
}

// The reader of standard error may be gone, as with `2>&1 | head`: fmt would throw, even in the handler
// that reports exceptions.
void write_to_stderr(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

int write_error = 0;  // of the standard output, the first one

void write_to(std::FILE* out, const std::string& text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), out) != text.size() && out == stdout && write_error == 0)
    write_error = errno;
}

bool is_colourful(std::FILE* out) { return is_terminal(out) && std::getenv("NO_COLOR") == nullptr; }

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// GitHub Actions takes lines that begin with "::" (after any white space) and "##[" anywhere for commands; so
// it does with what a container prints, which does not know where it runs.
std::string harmless_in_log(std::string text) {
  replace_all(text, "##[", "## [");
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t first = begin;
    while (first < text.size() && text[first] != '\n' && white_space(text, first) > 0)
      first += white_space(text, first);
    if (text.compare(first, 2, "::") == 0) text.insert(first + 1, " ");
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;
    begin = end + 1;
  }
  return text;
}

std::string with_colours(std::string text, std::FILE* out) {
  if (!is_colourful(out)) return text;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> colours = {{
      {"= identical", "\x1b[32m"},
      {"○ unjudged", "\x1b[35m"},
      {"? suspect", "\x1b[33;1m"},
      {"✗ fault", "\x1b[31;1m"},
      {"✗ slower", "\x1b[31;1m"},
      {"· missing", "\x1b[2m"},
  }};
  for (const auto& [word, colour] : colours)
    replace_all(text, word, fmt::format("{}{}\x1b[0m", colour, word));
  return text;
}

// "40 s", "12 min", "3.5 h": an estimate is not better than that.
std::string rough_time(double seconds) {
  constexpr double minute = 60.0;
  constexpr double hour = 3600.0;
  if (seconds < 2 * minute) return fmt::format("{:.0f} s", seconds);
  if (seconds < 2 * hour) return fmt::format("{:.0f} min", seconds / minute);
  return fmt::format("{:.1f} h", seconds / hour);
}

}  // namespace

bool is_terminal(std::FILE* out) { return ::isatty(::fileno(out)) != 0; }

Exit exit_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::missing: return Exit::missing;
    case ErrorKind::cancelled: return Exit::interrupted;
    case ErrorKind::internal: return Exit::fault;
    case ErrorKind::bad_input:
    case ErrorKind::unsupported:
    case ErrorKind::limit:
    case ErrorKind::io: break;
  }
  return Exit::bad_input;
}

void print_text(std::FILE* out, std::string_view text) {
  write_to(out, with_colours(harmless_in_log(harmless(text)), out));
}

void print_annotations(std::FILE* out, std::string_view text) { write_to(out, harmless(text)); }

Status flush_output() {
  if (std::fflush(stdout) != 0 && write_error == 0) write_error = errno;
  if (write_error == 0 || write_error == EPIPE) return {};
  return io_error(fmt::format("cannot write to the standard output: {}", std::strerror(write_error)));
}

void print_error(const Error& error) {
  const bool colour = is_colourful(stderr);
  write_to_stderr(fmt::format("{}driftscope:{} {}\n", colour ? "\x1b[31;1m" : "", colour ? "\x1b[0m" : "",
                              harmless_in_log(harmless(error.message))));
}

ProgressLine::ProgressLine(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) != 0) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::update(std::string_view step, std::int64_t done, std::int64_t total,
                          std::optional<double> seconds_left) {
  if (quiet_) return;
  const bool new_step = step != step_;
  step_ = step;
  if (!terminal_) {
    if (new_step) write_to_stderr(fmt::format("{}\n", harmless_in_log(harmless(step))));
    return;
  }
  // Often enough to look alive, rarely enough to cost nothing.
  const auto now = std::chrono::steady_clock::now();
  if (!new_step && now - last_ < std::chrono::milliseconds(60)) return;
  last_ = now;
  std::string line = harmless(step);
  if (total > 0) {
    constexpr std::int64_t cells = 24;
    const std::int64_t filled = std::min(cells, done * cells / total);
    line += "  ";
    for (std::int64_t i = 0; i < cells; ++i) line += i < filled ? "█" : "░";
    line += fmt::format(" {}/{}", done, total);
    if (seconds_left) line += ", about " + rough_time(*seconds_left) + " left";
  }
  write_to_stderr(fmt::format("\r\x1b[2K{}", elide(line, terminal_width() - 1)));
  shown_ = true;
}

void ProgressLine::clear() {
  if (!shown_) return;
  write_to_stderr("\r\x1b[2K");
  shown_ = false;
}

}  // namespace driftscope
