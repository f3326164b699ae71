#include "native/http/static_files.hpp"
#include "native/platform/trusted_path.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <span>
#include <sstream>
#include <utility>

#include "core/base/sha256.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

// Hidden files are not served, and ".." begins with a dot as well.
bool is_plain_segment(std::string_view segment) {
  if (segment.empty() || segment.front() == '.') return false;
  return std::all_of(segment.begin(), segment.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f && c != '\\' && c != ':';
  });
}

std::optional<std::string> content_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream content;
  content << stream.rdbuf();
  if (!stream) return std::nullopt;
  return std::move(content).str();
}

// Compressed files gain nothing. Weights of a model save a little, text and code a lot.
bool is_compressible(const fs::path& file) {
  static constexpr std::array<std::string_view, 11> extensions = {
      ".html", ".mjs", ".js", ".css", ".json", ".wasm", ".svg", ".txt", ".map", ".onnx", ".webmanifest"};
  return std::find(extensions.begin(), extensions.end(), file.extension().string()) != extensions.end();
}

constexpr std::size_t min_worth_compressing = 1024;  // it all fits one packet
constexpr double max_worth_compressed = 0.95;        // of the size

// Files that the build compressed thoroughly (cmake/compress.mjs). They may be of an older build, whatever
// their times say.
std::optional<std::string> compressed_beside(const fs::path& file, Coding coding, std::string_view plain) {
  auto bytes = content_of(file.string() + (coding == Coding::brotli ? ".br" : ".gz"));
  if (!bytes || !decodes_to(coding, *bytes, plain)) return std::nullopt;
  return bytes;
}

}  // namespace

struct StaticFiles::Entry {
  fs::path file;
  fs::file_time_type written;
  std::uintmax_t size = 0;
  std::string hash;
  std::shared_ptr<const std::string> plain;

  std::mutex mutex;
  // By coding; null: not worth it.
  std::map<Coding, std::shared_ptr<const std::string>> coded;

  std::shared_ptr<const std::string> in(Coding coding) {
    const std::lock_guard lock(mutex);
    const auto known = coded.find(coding);
    if (known != coded.end()) return known->second;
    auto bytes = compressed_beside(file, coding, *plain);
    if (!bytes) bytes = compress(coding, *plain);
    const bool saves = bytes && static_cast<double>(bytes->size()) <=
                                    max_worth_compressed * static_cast<double>(plain->size());
    return coded[coding] = saves ? std::make_shared<const std::string>(*std::move(bytes)) : nullptr;
  }
};

StaticFiles::StaticFiles(const fs::path& folder) {
  std::error_code error;
  folder_ = fs::canonical(folder, error);
}

StaticFiles::~StaticFiles() = default;

std::shared_ptr<StaticFiles::Entry> StaticFiles::entry_of(const fs::path& file) const {
  std::error_code error;
  const auto written = fs::last_write_time(file, error);
  const std::uintmax_t size = error ? 0 : fs::file_size(file, error);
  if (error) return nullptr;
  const std::lock_guard lock(mutex_);
  auto& entry = entries_[file.string()];
  if (entry && entry->written == written && entry->size == size) return entry;
  auto content = content_of(file);
  if (!content) return nullptr;
  auto made = std::make_shared<Entry>();
  made->file = file;
  made->written = written;
  made->size = size;
  made->hash = sha256_hex(std::as_bytes(std::span(*content))).substr(0, 32);
  made->plain = std::make_shared<const std::string>(*std::move(content));
  return entry = std::move(made);
}

std::optional<StaticFile> StaticFiles::read(std::string_view path, Coding wanted) const {
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
  const fs::path file = fs::canonical(folder_ / relative, error);  // resolves symbolic links
  if (error || !is_below(file, folder_) || !fs::is_regular_file(file, error)) return std::nullopt;
  const auto entry = entry_of(file);
  if (!entry) return std::nullopt;
  StaticFile answer{entry->plain, Coding::identity, mime_type(file), "", false};
  answer.varies = is_compressible(file) && entry->plain->size() >= min_worth_compressing;
  if (answer.varies && wanted != Coding::identity) {
    if (auto coded = entry->in(wanted)) {
      answer.content = std::move(coded);
      answer.coding = wanted;
    }
  }
  answer.etag = "\"" + entry->hash;
  if (answer.coding != Coding::identity) answer.etag += "-" + std::string(coding_name(answer.coding));
  answer.etag += "\"";
  return answer;
}

bool names_etag(std::string_view if_none_match, std::string_view etag) {
  if (if_none_match == "*") return true;
  // With the quotes one cannot match a part of another.
  return !etag.empty() && if_none_match.find(etag) != std::string_view::npos;
}

std::string mime_type(const fs::path& file) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 13> types = {{
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
      {".webmanifest", "application/manifest+json"},
  }};
  const std::string extension = file.extension().string();
  for (const auto& [known, type] : types)
    if (extension == known) return std::string(type);
  return "application/octet-stream";
}

}  // namespace driftscope
