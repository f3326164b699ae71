// A child process of ourselves that answers the requests of a service, and both ends of the line to it.
// Clients: the local subject of a bench (parent), the hidden command bench-worker (child).
// On the line each message has its length in front and that of what lies outside of it, which follows; both
// are 8 bytes, little endian.
#pragma once

#include "core/protocol/client.hpp"
#include "native/bench/subject.hpp"
#include "native/host/load_request.hpp"
#include "native/os/child_process.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope {

class WorkerProcess {
 public:
  [[nodiscard]] static Result<WorkerProcess> start();
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&&) = delete;
  ~WorkerProcess();

  /// The service's response. Errors: internal when the process has ended
  /// (with how, and its last words), limit after `timeout` without an answer, cancelled when `stop`
  /// says so. What is `outside` of a "load" stays in the child until the next request is answered.
  [[nodiscard]] Result<ServiceTransport::Response> exchange(const std::string& json,
                                                            std::span<const std::byte> payload,
                                                            const OutsideParts& outside,
                                                            std::chrono::milliseconds timeout,
                                                            const StopCheck& stop);

  /// PSS of the process, bytes.
  [[nodiscard]] std::int64_t memory() const;

 private:
  WorkerProcess(TempFolder folder, ChildProcess process, int line);
  [[nodiscard]] Error death() const;

  TempFolder folder_;  // holds what the process says on its standard error
  ChildProcess process_;
  int line_ = -1;
};

/// The child's side: answers until the other end is closed. Watched runs write trace files, as `run
/// --trace` does, into a folder that goes with the process.
void serve_service(int line);

}  // namespace driftscope
