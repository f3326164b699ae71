// The engine of a third-party runtime: gives it the model, captures inner values by making them outputs
// (which keeps the runtime from fusing across them; the trace notes it), passes options through. Clients: the
// engine.cpp of each peer, which describes it.
#pragma once

#include "core/engines/peer/runtime.hpp"
#include "core/engines/peer/session.hpp"

namespace driftscope::peer {

class PeerEngine final : public Engine {
 public:
  /// `peer` outlives the engine. Its options are extended by those that every peer has.
  explicit PeerEngine(const PeerInfo& peer);

  [[nodiscard]] const EngineInfo& info() const override { return info_; }
  [[nodiscard]] const PeerInfo& info_of_peer() const { return peer_; }
  [[nodiscard]] Availability available() const override { return runtime_of(peer_).available(); }
  [[nodiscard]] bool reads_source() const override { return peer_.takes == Takes::source; }
  /// Reads none if the runtime reads the model itself; otherwise those that the runtime is given.
  [[nodiscard]] bool reads_deferred() const override { return true; }

  /// The runtime accepts or rejects a model as a whole.
  [[nodiscard]] Availability supports(const Graph& /*graph*/, const Node& /*node*/) const override {
    return {};
  }

 protected:
  [[nodiscard]] Result<std::unique_ptr<Session>> make_session(std::shared_ptr<const Graph> graph,
                                                              const EngineOptions& given) const override;

 private:
  const PeerInfo& peer_;
  EngineInfo info_;
};

}  // namespace driftscope::peer
