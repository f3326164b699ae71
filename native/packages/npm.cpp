#include "native/packages/npm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <set>
#include <span>
#include <utility>

#include "core/archive/member_name.hpp"
#include "core/base/json.hpp"
#include "core/base/sha256.hpp"
#include "native/os/child_process.hpp"
#include "native/os/files.hpp"
#include "native/os/find_program.hpp"
#include "native/os/folders.hpp"
#include "native/os/temp_folder.hpp"
#include "native/packages/integrity.hpp"
#include "native/packages/tarball.hpp"
#include "native/platform/cache_folder.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int view_limit_ms = 120'000;
constexpr int pack_limit_ms = 900'000;
constexpr std::string_view archive_root = "package/";

std::string title_of(const peer::NeededPackage& needed) {
  return fmt::format("{} {}", needed.package.name, needed.version);
}

/// What helps where npm reached nothing; empty for its other errors.
std::string_view network_hint(std::string_view code) {
  static constexpr std::array codes = {"EAI_AGAIN",   "ECONNREFUSED", "ECONNRESET", "EHOSTUNREACH",
                                       "ENETUNREACH", "ENOTFOUND",    "ETIMEDOUT",  "ERR_SOCKET_TIMEOUT"};
  if (std::ranges::find(codes, code) == codes.end()) return "";
  return "; npm needs the network for it: behind a proxy set HTTPS_PROXY, or 'npm config set https-proxy "
         "URL'; "
         "'npm ping' tries it";
}

/// Standard output of npm in this folder, as JSON; its own error where it failed.
Result<json> npm(const fs::path& folder, std::vector<std::string> command, int limit_ms) {
  if (find_program("npm").empty())
    return missing_error("npm was not found; it comes with Node (tools/setup installs both)");
  ProcessSpec spec;
  spec.arguments = {"env", "-C", folder.string(), "npm"};
  spec.arguments.insert(spec.arguments.end(), command.begin(), command.end());
  for (const char* const flag :
       {"--json", "--silent", "--no-update-notifier", "--fetch-retries=1", "--fetch-retry-mintimeout=1000"})
    spec.arguments.emplace_back(flag);
  spec.output = folder / "npm.json";
  spec.errors_too = false;
  DRIFTSCOPE_TRY(const ChildProcess process, ChildProcess::start(spec));
  if (!process.wait(limit_ms))
    return missing_error(fmt::format("npm {} did not end in {} s", command.front(), limit_ms / 1000));
  DRIFTSCOPE_TRY(const auto bytes, read_file(spec.output));
  json answer = parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (process.exited_well()) return answer;
  std::string why = process.exit_text();
  if (answer.is_object() && answer.contains("error") && answer["error"].is_object()) {
    const json& error = answer["error"];
    const std::string code = text_at(error, "code");
    std::string summary = text_at(error, "summary");
    if (const auto line = summary.find('\n'); line != std::string::npos) summary.resize(line);
    why = fmt::format("{}{}{}{}", code, code.empty() ? "" : ": ", summary.substr(0, 300), network_hint(code));
  }
  return missing_error(fmt::format("npm says {}", why));
}

/// What the registry says of a package's archive.
struct Stated {
  std::string integrity;
  std::int64_t unpacked = 0;  ///< bytes; 0: not known
};

Result<Stated> stated_by_npm(const peer::NeededPackage& needed, const fs::path& work) {
  auto answer = npm(work, {"view", needed.package.name + "@" + needed.version, "dist"}, view_limit_ms);
  if (!answer.ok()) return in_context(std::move(answer).error(), title_of(needed) + " cannot be fetched");
  if (!answer->is_object() || !answer->contains("integrity"))
    return missing_error(
        fmt::format("{} cannot be fetched: npm has no such version; 'npm view {} versions' lists those "
                    "that there are",
                    title_of(needed), needed.package.name));
  Stated stated;
  stated.integrity = text_at(*answer, "integrity");
  if (const auto size = answer->find("unpackedSize"); size != answer->end() && size->is_number_integer())
    stated.unpacked = size->get<std::int64_t>();
  if (!stated.integrity.starts_with("sha512-"))
    return unsupported(fmt::format("{}: npm states the integrity {}, expected sha512-…", title_of(needed),
                                   stated.integrity.substr(0, 40)));
  const TarballLimits limits;
  if (stated.unpacked > static_cast<std::int64_t>(limits.bytes))
    return limit_error(fmt::format("{}: {} MiB unpacked, more than {}", title_of(needed),
                                   stated.unpacked >> 20, limits.bytes >> 20));
  return stated;
}

bool is_kept(const peer::ReleasePackage& package, std::string_view file) {
  return file.starts_with(package.folder) && file.find(package.within) != std::string_view::npos &&
         !file.ends_with(".map") && !file.ends_with(".d.ts");
}

Result<fs::path> packed_file(const fs::path& folder) {
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error))
    if (entry->path().extension() == ".tgz") return entry->path();
  return missing_error("npm pack left no archive");
}

Result<fs::path> fetch_package(const peer::NeededPackage& needed, const fs::path& folder,
                               const PackageProgress& progress) {
  DRIFTSCOPE_CHECK(make_folders(folder.parent_path()));
  DRIFTSCOPE_TRY(const TempFolder work, TempFolder::make_in(folder.parent_path()));
  progress(fmt::format("asking npm for {}", title_of(needed)));
  DRIFTSCOPE_TRY(const Stated stated, stated_by_npm(needed, work.path()));
  progress(fmt::format("fetching {}", title_of(needed)));
  if (auto packed = npm(work.path(), {"pack", needed.package.name + "@" + needed.version, "--ignore-scripts"},
                        pack_limit_ms);
      !packed.ok())
    return in_context(std::move(packed).error(), title_of(needed) + " cannot be fetched");
  DRIFTSCOPE_TRY(const fs::path archive, packed_file(work.path()));
  DRIFTSCOPE_TRY(const MappedFile bytes, MappedFile::open(archive));
  progress(fmt::format("unpacking {}", title_of(needed)));
  const fs::path unpacked = work.path() / "package";
  DRIFTSCOPE_CHECK(make_folders(unpacked));
  DRIFTSCOPE_CHECK(unpack_package(needed, bytes.bytes(), stated.integrity, unpacked));
  std::error_code error;
  fs::rename(unpacked, folder, error);
  if (error && !fs::exists(folder / package_list))  // else another process was faster
    return io_error(fmt::format("{}: {}", folder.string(), error.message()));
  return folder;
}

}  // namespace

Status unpack_package(const peer::NeededPackage& needed, std::span<const std::byte> archive,
                      const std::string& integrity, const fs::path& folder) {
  const std::string found = sha512_integrity(archive);
  if (found != integrity)
    return bad_input(
        fmt::format("{}: the archive that came has the integrity {}, expected {}; it was not used",
                    title_of(needed), found, integrity));
  json files = json::array();
  TarballReader reader;
  reader.wants = [&](const std::string& name) {
    return name.starts_with(archive_root) &&
           is_kept(needed.package, std::string_view(name).substr(archive_root.size()));
  };
  reader.file = [&](const std::string& name, std::span<const std::byte> content) -> Status {
    const std::string file = name.substr(archive_root.size());
    const fs::path place = folder / file;
    DRIFTSCOPE_CHECK(make_folders(place.parent_path()));
    DRIFTSCOPE_CHECK(write_file(place, content));
    files.push_back({{"path", file}, {"bytes", content.size()}, {"sha256", sha256_hex(content)}});
    return {};
  };
  if (Status status = read_tarball(archive, reader); !status.ok())
    return in_context(std::move(status).error(), title_of(needed));
  if (files.empty())
    return unsupported(fmt::format("{} has no files in {}{}: this release has another form", title_of(needed),
                                   needed.package.folder, needed.package.within));
  const json list = {{"package", needed.package.name},
                     {"version", needed.version},
                     {"integrity", integrity},
                     {"files", std::move(files)}};
  return write_file(folder / package_list, json_text(list, 1) + "\n");
}

Status check_package(const fs::path& folder) {
  const auto damaged = [&](std::string_view what) {
    return bad_input(
        fmt::format("{}: {}; remove this folder, and it is fetched again", folder.string(), what));
  };
  DRIFTSCOPE_TRY(const auto bytes, read_file(folder / package_list));
  const json list = parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!list.is_object() || !list.contains("files") || !list["files"].is_array())
    return damaged("its list is damaged");
  for (const json& file : list["files"]) {
    const std::string name = file.is_object() ? text_at(file, "path") : std::string();
    if (!is_member_name(name)) return damaged("its list is damaged");
    const auto content = MappedFile::open(folder / name);
    if (!content.ok()) return damaged(name + " cannot be read");
    if (sha256_hex(content->bytes()) != text_at(file, "sha256"))
      return damaged(name + " is not what was fetched");
  }
  return {};
}

Result<fs::path> provide_package(const peer::NeededPackage& needed, const PackageProgress& progress) {
  static std::mutex mutex;
  static std::set<fs::path> checked;
  const std::lock_guard lock(mutex);
  const fs::path folder = package_folder(needed.package.name, needed.version);
  if (folder.empty())
    return missing_error("there is no cache folder: neither XDG_CACHE_HOME nor HOME is set");
  if (checked.contains(folder)) return folder;
  std::error_code error;
  if (fs::exists(folder / package_list, error)) {
    DRIFTSCOPE_CHECK(check_package(folder));
  } else if (auto fetched = fetch_package(needed, folder, progress); !fetched.ok()) {
    return fetched;
  }
  checked.insert(folder);
  return folder;
}

Result<std::vector<std::string>> package_versions(const std::string& name) {
  DRIFTSCOPE_TRY(const TempFolder work, TempFolder::make());
  auto answer = npm(work.path(), {"view", name, "versions"}, view_limit_ms);
  if (!answer.ok())
    return in_context(std::move(answer).error(), "the releases of " + name + " are not known");
  if (!answer->is_array()) return missing_error(fmt::format("npm lists no versions of {}", name));
  std::vector<std::string> versions;
  for (const json& version : *answer)
    if (version.is_string()) versions.push_back(version.get<std::string>());
  return versions;
}

}  // namespace driftscope
