#include "core/platform/platform.hpp"

#include <emscripten.h>
#include <emscripten/heap.h>
#include <emscripten/html5.h>
#include <emscripten/threading.h>

#include <cmath>

#include "core/platform/thread_time.hpp"

namespace driftscope {

// Not emscripten_get_now: with threads it adds performance.timeOrigin, which WebKit computes
// again, with rounding, on every call; the sum sometimes goes back.
std::int64_t monotonic_ns() {
  return static_cast<std::int64_t>(std::llround(emscripten_performance_now() * 1e6));
}

std::optional<std::int64_t> thread_processor_ns() { return std::nullopt; }

double wall_clock_seconds() { return emscripten_date_now() / 1000.0; }

MemorySample sample_memory() { return {static_cast<std::int64_t>(emscripten_get_heap_size()), "wasm_heap"}; }

std::string platform_name() { return "wasm32"; }

int usable_processors() { return threads_available() ? emscripten_num_logical_cores() : 1; }

}  // namespace driftscope
