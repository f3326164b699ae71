// Traces as safetensors files (https://github.com/huggingface/safetensors): 8 bytes little-endian
// header length, a JSON header, the data. Only `format` must be present in `__metadata__` of our own
// files; files made elsewhere may hold tensors alone. Also reads and writes plain safetensors inputs.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/base/result.hpp"
#include "core/trace/trace.hpp"

namespace driftscope {

[[nodiscard]] Result<Trace> read_trace(std::span<const std::byte> bytes);
[[nodiscard]] Result<std::vector<std::byte>> write_trace(const Trace& trace);

}  // namespace driftscope
