// The session service in a Node process (web/worker/node_service.mjs). A message is its length (64 bits,
// little-endian) and its bytes, as pack_message makes them; every one is answered. Client: the host "node".
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "core/protocol/client.hpp"
#include "native/os/node_process.hpp"

namespace driftscope::hosts::node {

struct NodeServiceSpec {
  std::filesystem::path program;          ///< Node
  std::filesystem::path site;             ///< the built page, which has the engine
  std::string variant;                    ///< of the engine: "driftscope-relaxed-threads"
  std::string threads;                    ///< a number
  std::chrono::milliseconds patience{0};  ///< longest wait for an answer
};

class NodeService final : public ServiceTransport {
 public:
  [[nodiscard]] static Result<std::unique_ptr<NodeService>> start(const NodeServiceSpec& spec);

  /// Errors: those of NodeProcess.
  [[nodiscard]] Result<Response> exchange(const std::string& json,
                                          std::span<const std::byte> payload) override;
  [[nodiscard]] const NodeProcess& process() const { return *process_; }

 private:
  NodeService(std::unique_ptr<NodeProcess> process, std::chrono::milliseconds patience)
      : process_(std::move(process)), patience_(patience) {}

  std::unique_ptr<NodeProcess> process_;
  std::chrono::milliseconds patience_;
};

}  // namespace driftscope::hosts::node
