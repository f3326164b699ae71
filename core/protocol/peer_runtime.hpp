// A runtime in JavaScript, driven over a channel by the requests that web/peers/peers.mjs serves. Clients:
// web/peers/bridge.cpp, native/peers/node.
#pragma once

#include <functional>

#include "core/engines/peer/runtime.hpp"
#include "core/protocol/peer_channel.hpp"

namespace driftscope::peer {

class JsonRuntime : public Runtime {
 public:
  /// Opens the connection, or returns the one that is open.
  using Connect = std::function<Result<std::shared_ptr<Channel>>()>;

  /// `peer` outlives it.
  JsonRuntime(const PeerInfo& peer, Connect connect) : peer_(peer), connect_(std::move(connect)) {}

  [[nodiscard]] std::string hides_rewritten() const override { return peer_.in_browsers.hides_rewritten; }
  [[nodiscard]] std::string lacks(DType dtype) const override;
  [[nodiscard]] Result<std::unique_ptr<RuntimeModel>> create(const CreateRequest& request) const override;

  [[nodiscard]] const PeerInfo& peer() const { return peer_; }

 private:
  const PeerInfo& peer_;
  Connect connect_;
};

}  // namespace driftscope::peer
