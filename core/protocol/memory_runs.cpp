#include "core/protocol/memory_runs.hpp"

#include "core/bench/memory_growth.hpp"
#include "core/platform/platform.hpp"

namespace driftscope {

Status MemoryRuns::prepare(LoadedModel& model, StartRequest start) {
  start.traced = false;
  start.record = {.capture = Capture::outputs};
  DRIFTSCOPE_TRY(measurement_, Measurement::prepare(model, std::move(start), nullptr));
  began_ns_ = monotonic_ns();
  return {};
}

Result<Progress> MemoryRuns::poll(std::int64_t budget_ns) {
  const std::int64_t total = sampling_.limits().runs;
  Progress progress{0, total};
  if (!done_) {
    const std::int64_t runs = sampling_.next_runs();
    DRIFTSCOPE_TRY(const auto slice,
                   measurement_->measure({.slice_ns = 0, .inner = runs, .max_runs = runs}, budget_ns));
    progress.waiting = slice.waiting.value_or(false);
    progress.preparing = slice.preparing;
    progress.prepared = slice.prepared;
    progress.to_prepare = slice.to_prepare;
    if (slice.finished) {
      sampling_.ran(runs);
      // A WebAssembly heap is this service's alone; a process may serve others meanwhile.
      const bool alone = slice.memory_kind.value_or("") == "wasm_heap";
      const auto add = [&](std::string_view kind, std::int64_t bytes) {
        sampling_.add(alone ? std::string(kind) : shared_memory_kind(kind), bytes, alone);
      };
      add("heap_in_use", slice.heap_bytes.value_or(0));
      add(slice.engine_memory_kind.value_or(""), slice.engine_memory_bytes.value_or(0));
      done_ = sampling_.finished(static_cast<double>(monotonic_ns() - began_ns_) * 1e-9);
    }
  }
  progress.done = done_ ? total : std::min(sampling_.runs(), total - 1);
  return progress;
}

Status MemoryRuns::failed(Trace&, const Error& error) { return in_context(error, "watching memory"); }

}  // namespace driftscope
