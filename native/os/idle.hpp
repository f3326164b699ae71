// Waiting until processes have nothing more to do. Clients: the subjects of a bench.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace driftscope {

/// Processor time of all their threads so far, in nanoseconds; 0 where the system does not tell.
[[nodiscard]] std::int64_t processor_ns(const std::vector<pid_t>& processes);

/// Returns once they take less than half a processor, or after a tenth of a second. Threads of some
/// runtimes wait for more work by spinning: those of ONNX Runtime for some ten milliseconds.
void wait_until_idle(const std::vector<pid_t>& processes);

}  // namespace driftscope
