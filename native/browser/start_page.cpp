#include "native/browser/start_page.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "core/report/format.hpp"

namespace driftscope {

std::string file_url(const std::filesystem::path& path) {
  constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  std::string url = "file://";
  for (const char c : path.string()) {
    if (plain.find(c) != std::string_view::npos)
      url += c;
    else
      url += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return url;
}

Result<std::string> write_start_page(const std::filesystem::path& folder, const std::string& url) {
  const std::filesystem::path file = std::filesystem::absolute(folder) / "start.html";
  const std::string text = fmt::format(
      "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">"
      "<title>Driftscope</title><meta http-equiv=\"refresh\" content=\"0;url={}\">\n",
      html_escape(url));
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return io_error(fmt::format("cannot write '{}': {}", file.string(), std::strerror(errno)));
  const ssize_t written = ::write(fd, text.data(), text.size());
  const int error = errno;
  if (::close(fd) != 0 || written != static_cast<ssize_t>(text.size()))
    return io_error(fmt::format("cannot write '{}': {}", file.string(), std::strerror(error)));
  return file_url(file);
}

}  // namespace driftscope
