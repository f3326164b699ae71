// A Node process with the session service, and the socket to it (web/worker/node_service.mjs). A message is
// its length (64 bits, little-endian) and its bytes, as pack_message makes them; every one is answered.
// Client: the host "node".
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "core/protocol/client.hpp"
#include "native/os/child_process.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope::hosts::node {

struct NodeServiceSpec {
  std::filesystem::path program;             ///< Node
  std::filesystem::path site;                ///< the built page, which has the engine
  std::string variant;                       ///< of the engine: "driftscope-relaxed-threads"
  std::string threads;                       ///< a number
  std::chrono::milliseconds timeout{60000};  ///< longest wait for an answer
};

class NodeService final : public ServiceTransport {
 public:
  [[nodiscard]] static Result<std::unique_ptr<NodeService>> start(const NodeServiceSpec& spec);
  ~NodeService() override;

  /// Errors: missing when the process ends or does not answer in time.
  [[nodiscard]] Result<Response> exchange(const std::string& json,
                                          std::span<const std::byte> payload) override;
  [[nodiscard]] bool alive() const { return socket_ >= 0 && process_->running(); }
  /// PSS of its processes, bytes.
  [[nodiscard]] std::int64_t memory() const;

 private:
  NodeService(TempFolder folder, std::chrono::milliseconds timeout)
      : folder_(std::move(folder)), timeout_(timeout) {}
  [[nodiscard]] Status write_all(std::span<const std::byte> bytes);
  [[nodiscard]] Status read_all(std::span<std::byte> bytes);
  [[nodiscard]] Error gone(const std::string& how);

  TempFolder folder_;  // of its log
  std::chrono::milliseconds timeout_;
  std::optional<ChildProcess> process_;
  int socket_ = -1;
};

}  // namespace driftscope::hosts::node
