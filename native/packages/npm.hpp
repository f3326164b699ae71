// Packages of npm, fetched by npm itself into the program's cache, checked and unpacked: other releases of a
// runtime. Clients: native/host (targets with release=…), bisect --over release. Nothing is installed, and no
// script of a package runs.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/engines/peer/release.hpp"

namespace driftscope {

/// What is being done: "fetching onnxruntime-web 1.25.1".
using PackageProgress = std::function<void(std::string_view step)>;

/// The folder of a package: from the cache, where its files are compared with the hashes of its list once
/// per process, else fetched. The archive must have the integrity that the registry states for it. It
/// appears under its name only when it is complete. Errors: missing (no npm, no network, no such version),
/// bad_input (another integrity, a damaged cache).
[[nodiscard]] Result<std::filesystem::path> provide_package(const peer::NeededPackage& needed,
                                                            const PackageProgress& progress);

/// All versions that npm has of a package, as it lists them: oldest first. Errors: missing.
[[nodiscard]] Result<std::vector<std::string>> package_versions(const std::string& name);

/// Unpacks an archive into `folder`, which exists, and writes its list there. Errors: as read_tarball; the
/// archive lacks what is wanted; another integrity than `integrity`.
[[nodiscard]] Status unpack_package(const peer::NeededPackage& needed, std::span<const std::byte> archive,
                                    const std::string& integrity, const std::filesystem::path& folder);

/// Compares a folder's files with its list.
[[nodiscard]] Status check_package(const std::filesystem::path& folder);

}  // namespace driftscope
