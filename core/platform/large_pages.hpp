// Large pages for memory that is read through in every run: address translation takes a part of the time
// otherwise. One header, one .cpp per platform. Client: the fast engine's weights.
#pragma once

#include <cstddef>

namespace driftscope {

/// A hint; without effect where there are none.
void prefer_large_pages(void* memory, std::size_t bytes);

}  // namespace driftscope
