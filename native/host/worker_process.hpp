// A process of this program, or of the same one that is installed, which answers the requests of a service,
// and both ends of the line to it. Clients: worker_session and the local subject of a bench (parent), the
// hidden command worker (child).
// On the line each message is preceded by its length and that of its external bytes, which follow it; both
// are 8 bytes, little endian.
#pragma once

#include "core/protocol/client.hpp"
#include "native/host/load_request.hpp"
#include "native/host/run_request.hpp"
#include "native/os/child_process.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope {

class WorkerProcess {
 public:
  /// `program`: the first arguments of its ProcessSpec.
  [[nodiscard]] static Result<WorkerProcess> start(const std::vector<std::string>& program);
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&&) = delete;
  ~WorkerProcess();

  /// The service's response. Errors: internal when the process has ended
  /// (with its status and the end of its log), limit after `timeout` without a response, cancelled if `stop`
  /// says so. The external bytes of a "load" stay in the child as long as its model may be read again.
  [[nodiscard]] Result<ServiceTransport::Response> exchange(const std::string& json,
                                                            std::span<const std::byte> payload,
                                                            const OutsideParts& outside,
                                                            std::chrono::milliseconds timeout,
                                                            const StopCheck& stop);

  /// As of native/os/idle.hpp.
  void wait_until_idle() const;
  /// PSS of the process, bytes.
  [[nodiscard]] std::int64_t memory() const;
  [[nodiscard]] bool running() const { return process_.running(); }

 private:
  WorkerProcess(TempFolder folder, ChildProcess process, int line);
  [[nodiscard]] Error death() const;

  TempFolder folder_;  // holds the process's standard error
  ChildProcess process_;
  int line_ = -1;
};

/// The child's side: responds until the other end is closed. Traced runs write trace files, as `run
/// --trace` does, into a folder that is deleted with the process.
void serve_service(int line);

}  // namespace driftscope
