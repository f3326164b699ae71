#include "native/peers/node/node_runtime.hpp"

#include <fmt/format.h>

#include <mutex>

#include "core/protocol/peer_runtime.hpp"
#include "native/os/cleanup.hpp"
#include "native/os/node_program.hpp"
#include "native/peers/node/node_channel.hpp"
#include "native/platform/site.hpp"

namespace driftscope::node {
namespace {

namespace fs = std::filesystem;

struct Installed {
  fs::path program;
  fs::path site;
};

Result<Installed> find_installed(const peer::PeerInfo& peer) {
  Installed found;
  DRIFTSCOPE_TRY(found.program, find_node(peer.title + " on the PC"));
  DRIFTSCOPE_TRY(found.site, find_site());
  for (const std::string& file : peer.engine.browser_files) {
    std::error_code error;
    if (!fs::is_regular_file(found.site / file, error))
      return missing_error(
          fmt::format("{}: the built page lacks {}; run tools/setup, then 'cmake --build "
                      "--preset web'",
                      peer.title, file));
  }
  return found;
}

class NodeRuntime final : public peer::JsonRuntime {
 public:
  explicit NodeRuntime(const peer::PeerInfo& peer) : JsonRuntime(peer, [this] { return connect(); }) {
    (void)CleanupRegistry::instance();  // must outlive the process, which is ended through it
  }

  [[nodiscard]] Availability available() const override {
    if (const auto found = find_installed(peer()); !found.ok()) return {false, found.error().message};
    return {true, fmt::format("{} {}, in Node", peer().title, peer().version)};
  }

 private:
  Result<std::shared_ptr<peer::Channel>> connect() {
    const std::lock_guard lock(mutex_);
    if (channel_ == nullptr || channel_.use_count() > 1 || !channel_->alive()) {
      DRIFTSCOPE_TRY(const Installed found, find_installed(peer()));
      DRIFTSCOPE_TRY(channel_, NodeChannel::start(found.program, found.site, peer().title));
    }
    return std::shared_ptr<peer::Channel>(channel_);
  }

  std::mutex mutex_;
  std::shared_ptr<NodeChannel> channel_;
};

}  // namespace

const peer::Runtime& runtime_of(const peer::PeerInfo& peer) {
  static std::mutex mutex;
  static std::map<std::string, NodeRuntime, std::less<>> runtimes;
  const std::lock_guard lock(mutex);
  return runtimes.try_emplace(peer.engine.name, peer).first->second;
}

}  // namespace driftscope::node
