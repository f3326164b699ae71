// The machine that figures were measured on, and whether it was idle. Client: the bench command.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace driftscope {

struct Machine {
  std::string cpu;   ///< "Intel(R) Xeon(R) …"
  int cores = 1;     ///< number that this process may use
  std::string json;  ///< {"cpu","cores","memory_bytes","system","governor"?,"load_1min","busy_share"}
  std::vector<std::string> warnings;  ///< why figures may be noisy: the machine is busy, it saves power
};

/// Measures for a quarter of a second how busy the machine is.
[[nodiscard]] Machine describe_machine();

/// What programs may still take, bytes; 0 when the system does not say.
[[nodiscard]] std::int64_t available_memory_bytes();

}  // namespace driftscope
