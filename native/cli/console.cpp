#include "native/cli/console.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "core/report/format.hpp"

namespace driftscope {
namespace {

std::size_t terminal_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20) return 80;
  return size.ws_col;
}

// The reader of standard error may be gone, as with `2>&1 | head`: fmt would throw, even in the handler
// that reports exceptions.
void tell(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace

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

bool colours_on_stdout() { return ::isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr; }

std::string with_colours(std::string text) {
  if (!colours_on_stdout()) return text;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> colours = {{
      {"= identical", "\x1b[32m"},
      {"○ unjudged", "\x1b[35m"},
      {"? suspect", "\x1b[33;1m"},
      {"✗ fault", "\x1b[31;1m"},
      {"✗ slower", "\x1b[31;1m"},
      {"· missing", "\x1b[2m"},
  }};
  for (const auto& [word, colour] : colours) {
    const std::string painted = std::string(colour) + std::string(word) + "\x1b[0m";
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + painted.size()))
      text.replace(at, word.size(), painted);
  }
  return text;
}

void print_error(const Error& error) {
  const bool colour = ::isatty(STDERR_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  tell(fmt::format("{}driftscope:{} {}\n", colour ? "\x1b[31;1m" : "", colour ? "\x1b[0m" : "",
                   error.message));
}

ProgressLine::ProgressLine(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) != 0) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::update(std::string_view step, std::int64_t done, std::int64_t total) {
  if (quiet_) return;
  const bool new_step = step != step_;
  step_ = step;
  if (!terminal_) {
    if (new_step) tell(fmt::format("{}\n", step));
    return;
  }
  // Often enough to look alive, rarely enough to cost nothing.
  const auto now = std::chrono::steady_clock::now();
  if (!new_step && now - last_ < std::chrono::milliseconds(60)) return;
  last_ = now;
  std::string line(step);
  if (total > 0) {
    constexpr std::int64_t cells = 24;
    const std::int64_t filled = std::min(cells, done * cells / total);
    line += "  ";
    for (std::int64_t i = 0; i < cells; ++i) line += i < filled ? "█" : "░";
    line += fmt::format(" {}/{}", done, total);
  }
  tell(fmt::format("\r\x1b[2K{}", elide(line, terminal_width() - 1)));
  shown_ = true;
}

void ProgressLine::clear() {
  if (!shown_) return;
  tell("\r\x1b[2K");
  shown_ = false;
}

}  // namespace driftscope
