#include "core/platform/heap.hpp"

#include <malloc.h>

namespace driftscope {

std::int64_t heap_in_use() {
  const struct mallinfo2 all = mallinfo2();
  return static_cast<std::int64_t>(all.uordblks + all.hblkhd);
}

}  // namespace driftscope
