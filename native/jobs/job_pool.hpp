// Where jobs run: here, or on a cluster. Clients: commands that have many jobs. A pool is used from the
// thread that made it, since the processes that it starts end with that thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "native/jobs/job.hpp"

namespace driftscope {

class JobPool {
 public:
  /// Ends what runs.
  virtual ~JobPool() = default;

  /// What it is now, for progress: "4 workers"; empty: nothing need be said.
  [[nodiscard]] virtual std::string about() const = 0;
  /// How many jobs may be submitted beside those that run.
  [[nodiscard]] virtual std::size_t room() const = 0;
  /// Ids of jobs that run are not used again. Errors: those of the pool, or of this machine.
  [[nodiscard]] virtual Status submit(ProgramJob job) = 0;
  /// Jobs that have ended, each once; waits for one up to this long. Errors: the pool is lost, with all that
  /// ran.
  [[nodiscard]] virtual Result<std::vector<ProgramJobResult>> wait(std::chrono::milliseconds patience) = 0;
};

}  // namespace driftscope
