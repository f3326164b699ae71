// The file of a hub's keys (documents/hub_keys.json), which only this user may read. Client: hub.
#pragma once

#include <filesystem>

#include "core/base/result.hpp"
#include "generated/documents/hub_keys.hpp"

namespace driftscope {

/// None where there is no file. Errors: it is not such a file, or others may read or write it.
[[nodiscard]] Result<documents::HubKeys> read_hub_keys(const std::filesystem::path& path);
[[nodiscard]] Status write_hub_keys(const std::filesystem::path& path, const documents::HubKeys& keys);

}  // namespace driftscope
