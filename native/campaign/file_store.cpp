#include "native/campaign/file_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "native/os/files.hpp"

namespace driftscope {
namespace {

constexpr std::chrono::seconds flush_interval{5};

Result<std::string> read_all(int fd) {
  std::string text;
  char buffer[1 << 16];
  while (true) {
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error(system_message());
    if (got == 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

/// The name of a new file survives a loss of power as well.
void flush_folder(const std::filesystem::path& path) {
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const FileDescriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.get() >= 0) (void)::fsync(opened.get());
}

}  // namespace

Result<FileDescriptor> FileStore::open_locked(const std::filesystem::path& path) {
  // Not to wait for the other end of a pipe.
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0666));
  if (file.get() < 0)
    return io_error(fmt::format("--store {}: {}; name a file in a folder that can be written", path.string(),
                                system_message()));
  struct stat status{};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return bad_input(fmt::format("--store {}: not a regular file; name another", path.string()));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    return errno == EWOULDBLOCK
               ? bad_input(
                     fmt::format("--store {}: another process is writing it; wait until it has ended, or "
                                 "name another file",
                                 path.string()))
               : io_error(fmt::format("--store {}: it cannot be locked: {}; name a file on another disk",
                                      path.string(), system_message()));
  return file;
}

Result<FileStore> FileStore::open(const std::filesystem::path& path, const CampaignDefinition& definition) {
  DRIFTSCOPE_TRY(FileDescriptor file, open_locked(path));
  FileStore store(path, std::move(file));
  DRIFTSCOPE_CHECK(store.begin(definition));
  return store;
}

Status FileStore::begin(const CampaignDefinition& definition) {
  auto text = read_all(file_.get());
  if (!text.ok()) return io_error(fmt::format("--store {}: {}", path_.string(), text.error().message));
  auto stored = read_store(*text, definition);
  if (!stored.ok()) return in_context(std::move(stored).error(), "--store " + path_.string());
  stored_ = *std::move(stored);
  if (stored_.whole_bytes < text->size() &&
      ::ftruncate(file_.get(), static_cast<off_t>(stored_.whole_bytes)) != 0)
    return failure(system_message());
  if (stored_.whole_bytes > 0) return {};
  DRIFTSCOPE_TRY(std::string header, header_line(definition));
  DRIFTSCOPE_CHECK(append(std::move(header)));
  if (::fdatasync(file_.get()) != 0) return failure(system_message());
  flush_folder(path_);
  return {};
}

FileStore::~FileStore() {
  if (file_.get() >= 0) (void)::fdatasync(file_.get());
}

Status FileStore::add(const CampaignCell& cell, std::string result) {
  if (stored_.results.contains(cell)) return {};
  DRIFTSCOPE_TRY(std::string line, result_line(cell, result));
  DRIFTSCOPE_CHECK(append(std::move(line)));
  stored_.results.emplace(cell, std::move(result));
  const auto now = std::chrono::steady_clock::now();
  if (now - flushed_ < flush_interval) return {};
  flushed_ = now;
  if (::fdatasync(file_.get()) != 0) return failure(system_message());
  return {};
}

Status FileStore::remove(std::span<const CampaignCell> cells) {
  CampaignResults left = stored_.results;
  for (const CampaignCell& cell : cells) left.erase(cell);
  if (left.size() == stored_.results.size()) return {};
  if (::lseek(file_.get(), 0, SEEK_SET) != 0) return failure(system_message());
  DRIFTSCOPE_TRY(std::string text, read_all(file_.get()));
  const std::size_t header = text.find('\n');
  if (header == std::string::npos) return failure("its first line is gone");
  text.resize(header + 1);
  for (const auto& [cell, result] : left) {
    DRIFTSCOPE_TRY(const std::string line, result_line(cell, result));
    text += line + "\n";
  }
  // Until the new file has the name, the lock of the old one keeps others away.
  DRIFTSCOPE_CHECK(write_file(path_, text));
  DRIFTSCOPE_TRY(file_, open_locked(path_));
  stored_.results = std::move(left);
  stored_.whole_bytes = text.size();
  return {};
}

Status FileStore::append(std::string line) {
  line += '\n';
  if (const Status written = write_all(file_.get(), std::as_bytes(std::span(line))); !written.ok()) {
    // Where it cannot be cut, the next process does it.
    [[maybe_unused]] const int cut = ::ftruncate(file_.get(), static_cast<off_t>(stored_.whole_bytes));
    return failure(written.error().message);
  }
  stored_.whole_bytes += line.size();
  return {};
}

Error FileStore::failure(const std::string& why) const {
  return io_error(
      fmt::format("--store {}: {}; its {} results are kept: make room, or move the file to another "
                  "disk, and repeat the command, which goes on from there",
                  path_.string(), why, stored_.results.size()));
}

}  // namespace driftscope
