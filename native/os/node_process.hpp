// A script that runs in Node, and the socket to it, which is its file 3; both end with this. Clients: peers
// in Node, the host "node".
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "native/os/child_process.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope {

class NodeProcess {
 public:
  /// `title`: whose process it is, for messages.
  [[nodiscard]] static Result<std::unique_ptr<NodeProcess>> start(const std::filesystem::path& program,
                                                                  const std::filesystem::path& script,
                                                                  const std::vector<std::string>& arguments,
                                                                  std::string title);
  ~NodeProcess() { end(); }

  /// Errors: missing when the process has ended or closed its connection; the message has its last output.
  [[nodiscard]] Status write_all(std::span<const std::byte> bytes);
  /// The same; `patience`: the longest wait without a byte, after which the process is ended as well, and
  /// cancelled when the program is to end meanwhile.
  [[nodiscard]] Status read_all(std::span<std::byte> bytes,
                                std::optional<std::chrono::milliseconds> patience = {});

  [[nodiscard]] bool alive() const { return socket_ >= 0 && process_->running(); }
  /// Whether there is something to read, within this time.
  [[nodiscard]] bool has_arrived(int milliseconds) const;
  /// PSS of its processes, bytes.
  [[nodiscard]] std::int64_t memory() const;
  void end();

 private:
  NodeProcess(TempFolder folder, std::string title) : folder_(std::move(folder)), title_(std::move(title)) {}
  [[nodiscard]] Error gone();
  [[nodiscard]] Error failed(const std::string& how);

  TempFolder folder_;  // of its log
  std::string title_;
  std::optional<ChildProcess> process_;
  int socket_ = -1;
};

}  // namespace driftscope
