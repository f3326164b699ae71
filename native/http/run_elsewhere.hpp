// A run that the program carries out for its page on a target elsewhere, a device of the hub: this layer
// passes the page's messages on and knows no such targets. Clients: pc_runs, server, native/host/page_runs.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace driftscope {

class RunElsewhere {
 public:
  RunElsewhere() = default;
  /// Ends the run.
  virtual ~RunElsewhere() = default;
  RunElsewhere(const RunElsewhere&) = delete;
  RunElsewhere& operator=(const RunElsewhere&) = delete;

  /// Answers load, start, poll or finish as a service does (core/protocol/service.hpp). One call at a time.
  [[nodiscard]] virtual std::vector<std::byte> request(std::span<const std::byte> message) = 0;
};

/// A new one; empty: none can run.
using BeginRunElsewhere = std::function<std::unique_ptr<RunElsewhere>()>;

}  // namespace driftscope
