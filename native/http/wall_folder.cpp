#include "native/http/wall_folder.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <ctime>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "core/base/sha256.hpp"
#include "core/wall/read_runs.hpp"
#include "native/os/files.hpp"

namespace driftscope {

struct WallFolder::Found {
  std::uintmax_t bytes = 0;
  std::int64_t written_ns = 0;
};

namespace {

namespace fs = std::filesystem;

/// As dates of runs are written.
std::string utc_of(std::int64_t ns) {
  const auto seconds = static_cast<std::time_t>(ns / 1'000'000'000);
  std::tm parts{};
  char text[32];
  if (::gmtime_r(&seconds, &parts) == nullptr) return {};
  return {text, std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

bool is_json(const fs::path& path) {
  const std::string ending = path.extension().string();
  return ending == ".json" || ending == ".JSON";
}

}  // namespace

WallFolder::WallFolder(fs::path folder, WallLimits limits) : folder_(std::move(folder)), limits_(limits) {}

Result<std::map<std::string, WallFolder::Found>> WallFolder::list(std::size_t& left_out) const {
  std::error_code error;
  if (!fs::is_directory(folder_, error))
    return bad_input(fmt::format("{}: expected a folder with files of 'compare --json'", folder_.string()));
  std::set<std::string> names;
  std::size_t listed = 0;
  fs::recursive_directory_iterator at(folder_, fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; !error && at != end && listed < limits_.listed;
       at.increment(error), ++listed) {
    std::error_code gone;
    if (is_hidden(at->path())) {
      at.disable_recursion_pending();
    } else if (is_json(at->path()) && at->symlink_status(gone).type() == fs::file_type::regular) {
      names.insert(at->path().lexically_relative(folder_).generic_string());
    }
  }
  if (error) return io_error(fmt::format("{}: cannot be listed: {}", folder_.string(), error.message()));
  std::map<std::string, Found> found;
  for (const std::string& name : names) {
    if (found.size() >= limits_.files) {
      left_out = names.size() - found.size();
      break;
    }
    struct stat info{};
    if (::lstat((folder_ / name).c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;  // gone meanwhile
    found[name] = {static_cast<std::uintmax_t>(info.st_size),
                   static_cast<std::int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec};
  }
  return found;
}

WallFolder::Known WallFolder::read_one(const std::string& name, const Found& found) const {
  Known known{.bytes = found.bytes,
              .written_ns = found.written_ns,
              .comparison = true,
              .file = {.name = name, .digest = {}, .runs = {}, .error = {}}};
  const auto too_large = [&](std::uintmax_t bytes) {
    return fmt::format("{} bytes, more than {}", bytes, limits_.file_bytes);
  };
  if (found.bytes > limits_.file_bytes) {
    known.file.error = too_large(found.bytes);
    return known;
  }
  const auto bytes = read_inside(folder_, name);
  if (!bytes.ok() || bytes->size() > limits_.file_bytes) {
    known.file.error = bytes.ok() ? too_large(bytes->size()) : bytes.error().message;
    return known;
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  known.comparison = wall::may_be_comparison(text);
  if (!known.comparison) return known;
  known.file.digest = sha256_hex(*bytes);
  auto runs = wall::read_runs(text, name, utc_of(found.written_ns));
  if (runs.ok())
    known.file.runs = *std::move(runs);
  else
    known.file.error = runs.error().message;
  return known;
}

std::shared_ptr<const wall::Wall> WallFolder::made(std::size_t left_out) const {
  std::vector<wall::StoredFile> files;
  std::size_t others = 0;
  for (const auto& [name, known] : known_) {
    if (known.comparison)
      files.push_back(known.file);
    else
      ++others;
  }
  wall::Wall wall = wall::make_wall(std::move(files), others);
  if (left_out > 0)
    wall.skipped.push_back(
        {fmt::format("{} further files", left_out), fmt::format("{} are read at most", limits_.files)});
  return std::make_shared<const wall::Wall>(std::move(wall));
}

Result<std::shared_ptr<const wall::Wall>> WallFolder::read() {
  const std::lock_guard lock(mutex_);
  std::size_t left_out = 0;
  DRIFTSCOPE_TRY(const auto found, list(left_out));
  bool changed = !wall_ || left_out != left_out_;
  changed = std::erase_if(known_, [&](const auto& one) { return !found.contains(one.first); }) > 0 || changed;
  for (const auto& [name, now] : found) {
    const auto before = known_.find(name);
    if (before != known_.end() && before->second.bytes == now.bytes &&
        before->second.written_ns == now.written_ns)
      continue;
    known_.insert_or_assign(name, read_one(name, now));
    changed = true;
  }
  left_out_ = left_out;
  if (changed) wall_ = made(left_out);
  return wall_;
}

}  // namespace driftscope
