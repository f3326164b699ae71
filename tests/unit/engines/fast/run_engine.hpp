// A net on one engine, as the tests of `fast` run it.
#pragma once
#include <cstddef>
#include <set>
#include <string>

#include "core/platform/platform.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "core/runtime/engine.hpp"
#include "core/trace/record.hpp"

namespace driftscope::test {

/// Runs `graph` twice, so that leftovers of the first run would show. `ran`: what the session says of itself.
Trace run_engine(const Graph& graph, const NamedInputs& inputs, Capture capture, int threads,
                 const char* engine_name = "fast", RanWith* ran = nullptr, bool defer = false);

/// That deferred values are the same bits as stored ones. Callers that write values to a file during the run
/// defer them: each has its own memory, and is converted to ONNX's order when it is read.
/// `min_deferred`: how many must be deferred where all are recorded.
void check_deferred(const Graph& graph, const NamedInputs& inputs, std::size_t min_deferred);

/// That no layer of the trace is suspect or a fault.
void check_clean(const Graph& graph, const Trace& trace, ThreadPool& threads);

/// Of its tensors.
std::set<std::string> names_of(const Trace& trace);

}  // namespace driftscope::test
