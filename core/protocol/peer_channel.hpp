// The connection to a peer's JavaScript, wherever it runs: requests and replies are JSON, bytes travel beside
// them. Implemented by web/peers/bridge.cpp (the same worker, bytes by their address) and native/peers/node
// (a Node process, bytes through a socket). The other end is web/peers/peers.mjs. Client: peer_runtime.cpp.
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "core/base/result.hpp"
#include "core/runtime/engine.hpp"

namespace driftscope::peer {

class Channel {
 public:
  virtual ~Channel() = default;

  /// How the next request refers to these bytes, which must stay where they are until it has been sent.
  [[nodiscard]] virtual nlohmann::json place(std::span<const std::byte> bytes) = 0;
  /// The same for bytes that its reply fills.
  [[nodiscard]] virtual nlohmann::json place_for_reply(std::span<std::byte> bytes) = 0;
  /// Sends a request and waits for its reply, which never takes as long as the work that it starts. Errors:
  /// the other end is gone or does not answer.
  [[nodiscard]] virtual Result<nlohmann::json> ask(nlohmann::json request) = 0;
  /// Waits, but not for long, until work that was started may have ended. False: only the event loop of this
  /// thread can finish it (a worker of a browser).
  [[nodiscard]] virtual bool wait() = 0;
  /// Memory of both ends, if the other one is not this process.
  [[nodiscard]] virtual std::optional<MemorySample> memory() const { return std::nullopt; }
};

}  // namespace driftscope::peer
