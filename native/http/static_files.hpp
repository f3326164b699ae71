// The files of one folder by URL path, and no file outside it, each in the codings that browsers accept.
// A file is read, hashed and compressed once, until it changes. Client: server.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "native/http/compression.hpp"

namespace driftscope {

/// One file in one coding.
struct StaticFile {
  std::shared_ptr<const std::string> content;
  Coding coding = Coding::identity;  ///< the requested one if it saves something, else identity
  std::string content_type;
  std::string etag;     ///< quoted; differs for different bytes (RFC 9110, 8.8.3)
  bool varies = false;  ///< whether the response depends on Accept-Encoding
};

class StaticFiles {
 public:
  explicit StaticFiles(const std::filesystem::path& folder);
  ~StaticFiles();

  /// `path` is percent-decoded and starts with "/"; one that ends with "/" names its index.html.
  /// Nothing when there is no such regular file, when a segment is "..", hidden or holds a control
  /// character or backslash, or when a symbolic link leads out of the folder.
  /// May be called by several threads.
  [[nodiscard]] std::optional<StaticFile> read(std::string_view path, Coding wanted) const;

 private:
  struct Entry;
  [[nodiscard]] std::shared_ptr<Entry> entry_of(const std::filesystem::path& file) const;

  std::filesystem::path folder_;  // canonical
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<Entry>> entries_;
};

/// Whether If-None-Match names this ETag (RFC 9110, 13.1.2: weak comparison, or "*").
[[nodiscard]] bool names_etag(std::string_view if_none_match, std::string_view etag);

/// By file name extension; application/octet-stream for unknown ones.
[[nodiscard]] std::string mime_type(const std::filesystem::path& file);

}  // namespace driftscope
