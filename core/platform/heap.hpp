// The size of the heap. One .cpp per platform, chosen by CMake. Client: the service's measuring.
#pragma once

#include <cstdint>

namespace driftscope {

/// Bytes that are allocated now; 0 if the allocator does not report it.
[[nodiscard]] std::int64_t heap_in_use();

}  // namespace driftscope
