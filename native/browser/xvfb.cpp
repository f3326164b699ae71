#include "native/browser/xvfb.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "native/os/files.hpp"
#include "native/os/log_tail.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

constexpr int start_timeout_ms = 20000;

// One entry of an Xauthority file (xauth(1), Xau(3)): family, address, display number, protocol and
// cookie, each with a big-endian length. Family 0xffff with no address fits every display.
Status write_authority(const fs::path& file) {
  std::array<char, 16> cookie{};
  if (getrandom(cookie.data(), cookie.size(), 0) != static_cast<ssize_t>(cookie.size()))
    return io_error("no random numbers from the operating system");
  const auto field = [](const std::string& text) {
    return std::string{static_cast<char>(text.size() >> 8), static_cast<char>(text.size() & 255)} + text;
  };
  return write_temporary(file, "\xff\xff" + field("") + field("") + field("MIT-MAGIC-COOKIE-1") +
                                   field(std::string(cookie.data(), cookie.size())));
}

// The number that the X server writes once it is ready, as "99\n"; empty when it never does.
std::string read_display(int fd, const ChildProcess& server) {
  std::string text;
  for (int waited = 0; waited < start_timeout_ms; waited += 50) {
    pollfd ready{fd, POLLIN, 0};
    if (poll(&ready, 1, 50) > 0) {
      char c = 0;
      while (read(fd, &c, 1) == 1) {
        if (c == '\n') return text;
        text += c;
      }
    }
    if (!server.running()) break;
  }
  return {};
}

}  // namespace

Result<Xvfb> Xvfb::start(const fs::path& folder) {
  const fs::path authority = folder / "xauthority";
  const fs::path log = folder / "xvfb.log";
  DRIFTSCOPE_CHECK(write_authority(authority));
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return io_error("cannot make a pipe");
  constexpr int line_of_display = 3;
  ProcessSpec spec;
  spec.arguments = {"Xvfb",
                    "-displayfd",
                    std::to_string(line_of_display),
                    "-screen",
                    "0",
                    "1280x1024x24",
                    "-nolisten",
                    "tcp",
                    "-noreset",
                    "-auth",
                    authority.string()};
  spec.output = log;
  spec.pass_fd = ends[1];
  spec.passed_as = line_of_display;
  auto started = ChildProcess::start(spec);
  close(ends[1]);
  if (!started.ok()) {
    close(ends[0]);
    return std::move(started).error();
  }
  ChildProcess server = *std::move(started);
  const std::string number = read_display(ends[0], server);
  close(ends[0]);
  if (number.empty()) return io_error("Xvfb, the display for the browser, did not start: " + log_tail(log));
  return Xvfb(std::move(server), ":" + number, authority);
}

Xvfb::Xvfb(ChildProcess process, std::string display, fs::path authority)
    : process_(std::move(process)), display_(std::move(display)), authority_(std::move(authority)) {}

std::map<std::string, std::string> Xvfb::environment() const {
  return {{"DISPLAY", display_}, {"XAUTHORITY", authority_.string()}};
}

}  // namespace driftscope
