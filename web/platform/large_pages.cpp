#include "core/platform/large_pages.hpp"

namespace driftscope {

// WebAssembly's memory has the pages that the browser gave it.
void prefer_large_pages(void* /*memory*/, std::size_t /*bytes*/) {}

}  // namespace driftscope
