#include "native/server/static_files.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <utility>

namespace driftscope {
namespace {

namespace fs = std::filesystem;

// Hidden files are none of a page's business, and ".." begins with a dot as well.
bool is_plain_segment(std::string_view segment) {
  if (segment.empty() || segment.front() == '.') return false;
  return std::all_of(segment.begin(), segment.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f && c != '\\' && c != ':';
  });
}

bool is_below(const fs::path& file, const fs::path& folder) {
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return end == folder.end() && rest != file.end();
}

}  // namespace

StaticFiles::StaticFiles(const fs::path& folder) {
  std::error_code error;
  folder_ = fs::canonical(folder, error);
}

std::optional<StaticFile> StaticFiles::read(std::string_view path) const {
  if (folder_.empty() || path.empty() || path.front() != '/') return std::nullopt;
  std::string relative(path.substr(1));
  if (relative.empty() || relative.back() == '/') relative += "index.html";
  for (std::string_view rest = relative;;) {
    const std::size_t slash = rest.find('/');
    if (!is_plain_segment(rest.substr(0, slash))) return std::nullopt;
    if (slash == std::string_view::npos) break;
    rest.remove_prefix(slash + 1);
  }
  std::error_code error;
  const fs::path file = fs::canonical(folder_ / relative, error);  // follows symbolic links
  if (error || !is_below(file, folder_) || !fs::is_regular_file(file, error)) return std::nullopt;
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream content;
  content << stream.rdbuf();
  if (!stream) return std::nullopt;
  return StaticFile{std::move(content).str(), mime_type(file)};
}

std::string mime_type(const fs::path& file) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 12> types = {{
      {".html", "text/html; charset=utf-8"},
      {".mjs", "text/javascript; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".json", "application/json"},
      {".wasm", "application/wasm"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
      {".jpg", "image/jpeg"},
      {".ico", "image/x-icon"},
      {".txt", "text/plain; charset=utf-8"},
      {".map", "application/json"},
  }};
  const std::string extension = file.extension().string();
  for (const auto& [known, type] : types)
    if (extension == known) return std::string(type);
  return "application/octet-stream";
}

}  // namespace driftscope
