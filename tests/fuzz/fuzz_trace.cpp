// Any bytes as a trace. One that is accepted can be written, and what was written is read and written
// the same again.
#include <cstdint>
#include <cstdlib>

#include "core/trace/trace_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace driftscope;
  const auto trace = read_trace(std::as_bytes(std::span(data, size)));
  if (!trace.ok()) return 0;
  const auto written = write_trace(*trace);
  if (!written.ok()) std::abort();
  const auto again = read_trace(*written);
  if (!again.ok() || again->tensors.size() != trace->tensors.size()) std::abort();
  const auto rewritten = write_trace(*again);
  if (!rewritten.ok() || *rewritten != *written) std::abort();
  return 0;
}
