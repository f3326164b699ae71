// The connection to a peer's JavaScript, wherever it runs: requests and replies are JSON, bytes travel beside
// them. Implemented by web/peers/bridge.cpp (the same worker, bytes by their address) and native/peers/node
// (a Node process, bytes through a socket). The other end is web/peers/peers.mjs. Client: peer_runtime.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "core/base/result.hpp"
#include "core/runtime/engine.hpp"

namespace driftscope::peer {

/// The bytes that travel with one request, and those that its reply fills. They must stay where they are
/// until it has been answered; a request that is given up takes its parcel with it.
struct Parcel {
  std::vector<std::span<const std::byte>> sent;
  std::vector<std::span<std::byte>> filled;
  std::uint64_t sent_bytes = 0;  ///< with what a channel puts between them
  std::uint64_t filled_bytes = 0;
};

class Channel {
 public:
  virtual ~Channel() = default;

  /// Adds bytes to the parcel: how the request refers to them.
  [[nodiscard]] virtual nlohmann::json place(Parcel& parcel, std::span<const std::byte> bytes) = 0;
  /// The same for bytes that the reply fills.
  [[nodiscard]] virtual nlohmann::json place_for_reply(Parcel& parcel, std::span<std::byte> bytes) = 0;
  /// Sends a request and waits for its reply, which never takes as long as the work that it starts. Errors:
  /// the other end is gone or does not answer.
  [[nodiscard]] virtual Result<nlohmann::json> ask(nlohmann::json request, const Parcel& parcel) = 0;
  /// Waits, but not for long, until work that was started may have ended. False: only the event loop of this
  /// thread can finish it (a worker of a browser).
  [[nodiscard]] virtual bool wait() = 0;
  /// Memory of both ends, if the other one is not this process.
  [[nodiscard]] virtual std::optional<MemorySample> memory() const { return std::nullopt; }
};

}  // namespace driftscope::peer
