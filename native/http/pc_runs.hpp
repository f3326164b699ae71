// Runs for a page that this PC serves, on the PC or on a device of its hub: the session service
// (core/protocol/service.hpp) over HTTP, for one run at a time. Client: server.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/protocol/service.hpp"
#include "native/http/run_elsewhere.hpp"

namespace driftscope {

class PcRuns {
 public:
  /// A page that says nothing for so long is gone: its run ends when another one begins.
  static constexpr std::chrono::seconds longest_silence{20};

  /// `elsewhere`: carries out runs of the host remote; empty: there are none.
  explicit PcRuns(BeginRunElsewhere elsewhere = {}) : begin_elsewhere_(std::move(elsewhere)) {}

  /// Answers a message of the run with this name, which the page chose: load, start, poll, finish or cancel.
  /// Anything else, other hosts, and a second run beside one that is under way are errors. Any thread.
  [[nodiscard]] std::vector<std::byte> exchange(const std::string& run, std::span<const std::byte> message);

 private:
  [[nodiscard]] bool under_way() const { return service_ != nullptr || elsewhere_ != nullptr; }
  [[nodiscard]] std::string refusal(const std::string& run, std::span<const std::byte> message) const;
  [[nodiscard]] std::string refused_target(const std::string& verb, const std::string& target) const;
  void end();  // and with it the model's memory

  const BeginRunElsewhere begin_elsewhere_;
  std::mutex mutex_;
  std::unique_ptr<Service> service_;  // of the run under way; null: none here
  std::unique_ptr<RunElsewhere> elsewhere_;
  std::string run_;
  std::chrono::steady_clock::time_point heard_;
};

/// "pc/strict", …: what can run here, the default first.
[[nodiscard]] std::vector<std::string> pc_targets();

}  // namespace driftscope
