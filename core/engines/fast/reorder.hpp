// Values from one order of memory to another, by XNNPACK's transposition. Clients: the lowering, its
// operators, the session.
#pragma once

#include <cstddef>

#include "core/lowering/layout.hpp"

struct pthreadpool;

namespace driftscope::fast {

/// How far beyond a source XNNPACK's kernels may read.
inline constexpr std::size_t read_beyond = 64;

/// Copies elements of `element_bytes` each (1, 2, 4 or 8) from one order to the other. Behind the source
/// `read_beyond` more bytes must be readable, as behind every Tensor. XNNPACK is initialized.
[[nodiscard]] Status reorder(const Shape& shape, std::size_t element_bytes, lowering::Layout from,
                             const std::byte* source, lowering::Layout to, std::byte* target,
                             pthreadpool* pool = nullptr);

}  // namespace driftscope::fast
