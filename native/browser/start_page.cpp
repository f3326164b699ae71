#include "native/browser/start_page.hpp"

#include <fmt/format.h>

#include <string_view>

#include "core/base/format.hpp"
#include "native/os/files.hpp"

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
  DRIFTSCOPE_CHECK(write_temporary(file, text));
  return file_url(file);
}

}  // namespace driftscope
