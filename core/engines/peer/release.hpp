// Which release of a peer's runtime, and which of that release's builds, a target names: the options release
// and build. Releases other than the one that this build has come as npm packages, which the host fetches
// (native/packages). Clients: the engine.cpp of peers, peer_engine, native/host, native/peers.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/engine_info.hpp"

namespace driftscope::peer {

struct PeerInfo;

/// A package that holds a runtime, in each version that it has.
struct ReleasePackage {
  std::string name;    ///< as npm calls it: "@tensorflow/tfjs-core"
  std::string folder;  ///< what is kept of it: the files in this folder, "dist/",
  std::string within;  ///< whose path contains this, "/linux/x64/"; empty: all
};

/// Where the releases of a runtime come from; empty lists: there are none to choose from.
struct Releases {
  std::vector<ReleasePackage> in_browsers = {};  ///< also where it runs in Node
  std::vector<ReleasePackage> native = {};
  std::string since = {};  ///< the first that the code here can run; bisect begins there
};

/// A package of one version.
struct NeededPackage {
  ReleasePackage package;
  std::string version;
};

inline constexpr std::string_view release_name = "release";
inline constexpr std::string_view build_name = "build";

[[nodiscard]] EngineOption release_option();
/// The first is the one that this build has.
[[nodiscard]] EngineOption build_option(std::vector<std::string> builds);

/// The release that must be fetched for these options; empty: the one that is here will do.
[[nodiscard]] std::string release_to_fetch(const PeerInfo& peer,
                                           const std::map<std::string, std::string>& options);

/// The packages that a target with these options needs on this host.
[[nodiscard]] std::vector<NeededPackage> needed_packages(const PeerInfo& peer, std::string_view host,
                                                         const std::map<std::string, std::string>& options);

}  // namespace driftscope::peer
