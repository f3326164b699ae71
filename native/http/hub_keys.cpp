#include "native/http/hub_keys.hpp"

#include <system_error>

#include "core/base/json.hpp"
#include "core/base/json_lists.hpp"
#include "native/os/files.hpp"
#include "native/os/folders.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

Status check_private(const fs::path& path) {
  std::error_code error;
  const fs::perms permissions = fs::status(path, error).permissions();
  if (error) return io_error("cannot read " + path.string() + ": " + error.message());
  if ((permissions & (fs::perms::group_all | fs::perms::others_all)) == fs::perms::none) return {};
  return bad_input(
      path.string() +
      " holds the keys of the hub's devices, and other users may read or write it: 'chmod 600' it, or "
      "remove it and let the devices join again");
}

}  // namespace

Result<documents::HubKeys> read_hub_keys(const fs::path& path) {
  documents::HubKeys keys;
  std::error_code error;
  if (!fs::exists(path, error)) return keys;
  DRIFTSCOPE_CHECK(check_private(path));
  DRIFTSCOPE_TRY(const auto bytes, read_file(path));
  const auto document = parse_document({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!document.ok()) return in_context(document.error(), path.string());
  if (const Status read = read_json(*document, JsonPath(), keys); !read.ok())
    return in_context(read.error(), path.string());
  return keys;
}

Status write_hub_keys(const fs::path& path, const documents::HubKeys& keys) {
  DRIFTSCOPE_CHECK(make_folders(folder_of(path)));
  return write_private(path, json_text(encode(keys), 1) + "\n");
}

}  // namespace driftscope
