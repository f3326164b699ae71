// Runs on this PC for a page that it serves: the session service (core/protocol/service.hpp) over HTTP, for
// one run at a time. Client: server.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/protocol/service.hpp"

namespace driftscope {

class PcRuns {
 public:
  /// A page that says nothing for so long is gone: its run ends when another one begins.
  static constexpr std::chrono::seconds longest_silence{20};

  /// Answers a message of the run with this name, which the page chose: load, start, poll or finish. Anything
  /// else, another host than "pc", and a second run beside one that is under way are errors. Any thread.
  [[nodiscard]] std::vector<std::byte> exchange(const std::string& run, std::span<const std::byte> message);

 private:
  [[nodiscard]] std::string refusal(const std::string& run, std::span<const std::byte> message);

  std::mutex mutex_;
  std::unique_ptr<Service> service_;  // of the run under way; null: none
  std::string run_;
  std::chrono::steady_clock::time_point heard_;
};

/// "pc/strict", …: what can run here, the default first.
[[nodiscard]] std::vector<std::string> pc_targets();

}  // namespace driftscope
