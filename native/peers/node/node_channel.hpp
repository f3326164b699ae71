// A Node process in which a peer's JavaScript runs (web/peers/node_host.mjs), and the socket to it.
// Client: node_runtime.cpp.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/protocol/peer_channel.hpp"
#include "native/os/child_process.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope::node {

class NodeChannel final : public peer::Channel {
 public:
  /// `program`: Node; `site`: the built page, which has the modules and the runtime's files. `title`: the
  /// runtime, for messages.
  [[nodiscard]] static Result<std::shared_ptr<NodeChannel>> start(const std::filesystem::path& program,
                                                                  const std::filesystem::path& site,
                                                                  std::string title);
  ~NodeChannel() override;

  [[nodiscard]] nlohmann::json place(peer::Parcel& parcel, std::span<const std::byte> bytes) override;
  [[nodiscard]] nlohmann::json place_for_reply(peer::Parcel& parcel, std::span<std::byte> bytes) override;
  [[nodiscard]] Result<nlohmann::json> ask(nlohmann::json request, const peer::Parcel& parcel) override;
  [[nodiscard]] bool wait() override;
  [[nodiscard]] std::optional<MemorySample> memory() const override;

  [[nodiscard]] bool alive() const { return socket_ >= 0 && process_->running(); }

 private:
  struct Received {
    nlohmann::json head;
    std::vector<std::byte> payload;
  };

  NodeChannel(TempFolder folder, std::string title);
  [[nodiscard]] Status send(const std::string& json, const peer::Parcel& parcel);
  [[nodiscard]] Result<Received> receive();
  [[nodiscard]] Status write_all(std::span<const std::byte> bytes);
  [[nodiscard]] Status read_all(std::span<std::byte> bytes);
  [[nodiscard]] Error gone();
  [[nodiscard]] bool has_arrived(int milliseconds) const;
  void end();

  TempFolder folder_;  // of its log
  std::string title_;
  std::optional<ChildProcess> process_;
  int socket_ = -1;
  Error ended_;           // once there is no socket
  bool working_ = false;  // until it says "settled" it may not listen
};

}  // namespace driftscope::node
