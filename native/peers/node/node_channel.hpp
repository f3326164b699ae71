// A Node process in which a peer's JavaScript runs (web/peers/node_host.mjs), and the socket to it.
// Client: node_runtime.cpp.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/protocol/peer_channel.hpp"
#include "native/os/node_process.hpp"

namespace driftscope::node {

class NodeChannel final : public peer::Channel {
 public:
  /// `program`: Node; `site`: the built page, which has the modules and the runtime's files. `title`: the
  /// runtime, for messages.
  [[nodiscard]] static Result<std::shared_ptr<NodeChannel>> start(const std::filesystem::path& program,
                                                                  const std::filesystem::path& site,
                                                                  std::string title);
  [[nodiscard]] nlohmann::json place(peer::Parcel& parcel, std::span<const std::byte> bytes) override;
  [[nodiscard]] nlohmann::json place_for_reply(peer::Parcel& parcel, std::span<std::byte> bytes) override;
  [[nodiscard]] Result<nlohmann::json> ask(nlohmann::json request, const peer::Parcel& parcel) override;
  [[nodiscard]] bool wait() override;
  [[nodiscard]] std::optional<MemorySample> memory() const override;

  [[nodiscard]] bool alive() const { return process_ && process_->alive(); }

 private:
  struct Received {
    nlohmann::json head;
    std::vector<std::byte> payload;
  };

  NodeChannel(std::unique_ptr<NodeProcess> process, std::string title)
      : title_(std::move(title)), process_(std::move(process)) {}
  [[nodiscard]] Status send(const std::string& json, const peer::Parcel& parcel);
  [[nodiscard]] Result<Received> receive();
  /// Remembers why the process cannot be used any more.
  [[nodiscard]] Error ended(Error why);
  [[nodiscard]] Status write_all(std::span<const std::byte> bytes);
  [[nodiscard]] Status read_all(std::span<std::byte> bytes);

  std::string title_;
  std::unique_ptr<NodeProcess> process_;  // null once it has ended
  Error ended_;                           // then
  bool working_ = false;                  // until it says "settled" it may not listen
};

}  // namespace driftscope::node
