// The files of one folder by URL path, and no file outside it. Client: server.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace driftscope {

struct StaticFile {
  std::string content;
  std::string content_type;
};

class StaticFiles {
 public:
  explicit StaticFiles(const std::filesystem::path& folder);

  /// `path` is percent-decoded and starts with "/"; one that ends with "/" names its index.html.
  /// Nothing when there is no such regular file, when a segment is "..", hidden or holds a control
  /// character or backslash, or when a symbolic link leads out of the folder.
  [[nodiscard]] std::optional<StaticFile> read(std::string_view path) const;

 private:
  std::filesystem::path folder_;  // canonical
};

/// By file name extension; application/octet-stream for unknown ones.
[[nodiscard]] std::string mime_type(const std::filesystem::path& file);

}  // namespace driftscope
