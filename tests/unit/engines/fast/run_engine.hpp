// A net on one engine, as the tests of `fast` run it.
#pragma once
#include "core/runtime/bind_inputs.hpp"
#include "core/runtime/engine.hpp"
#include "core/trace/record.hpp"

namespace driftscope::test {

/// Runs `graph` twice, so that leftovers of the first run would show. `ran`: what the session says of itself.
Trace run_engine(const Graph& graph, const NamedInputs& inputs, Capture capture, int threads,
                 const char* engine_name = "fast", RanWith* ran = nullptr, bool defer = false);

}  // namespace driftscope::test
