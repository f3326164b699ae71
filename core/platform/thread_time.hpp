// How long the calling thread has computed. One header, one .cpp per platform. Client: thread_pool.
#pragma once

#include <cstdint>
#include <optional>

namespace driftscope {

/// Nanoseconds that this thread has had a processor; the origin is arbitrary. Nothing where the platform does
/// not say, or only roughly.
[[nodiscard]] std::optional<std::int64_t> thread_processor_ns();

}  // namespace driftscope
