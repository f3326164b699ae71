// Traces as safetensors files (https://github.com/huggingface/safetensors): 8 bytes little-endian
// header length, a JSON header, the data. Only `format` must be present in `__metadata__` of our own
// files; files made elsewhere may hold tensors alone. Also reads and writes plain safetensors inputs.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/trace/safetensors.hpp"
#include "core/trace/trace.hpp"

namespace driftscope {

[[nodiscard]] Result<Trace> read_trace(std::span<const std::byte> bytes);
[[nodiscard]] Result<std::vector<std::byte>> write_trace(const Trace& trace);
/// The same piece by piece; also errors of `sink`.
[[nodiscard]] Status write_trace(const Trace& trace, const ByteSink& sink);

/// A trace without its tensors, from and to `__metadata__`: for readers and writers of one tensor at a
/// time.
[[nodiscard]] Result<Trace> read_trace_metadata(const std::map<std::string, std::string>& metadata);
[[nodiscard]] Result<std::map<std::string, std::string>> trace_metadata(const Trace& trace);

/// Values of later runs are in a file beside the others, under names of their own; the metadata lists them.
struct LaterName {
  std::string name;  ///< of the tensor in the file
  std::int64_t run = 0;
  std::string value;
};
[[nodiscard]] std::vector<LaterName> later_names(const Trace& about);
/// `trace.later` as tensors of a file; without those whose dtype the format lacks.
[[nodiscard]] std::vector<NamedTensor> later_tensors(const Trace& trace);

}  // namespace driftscope
