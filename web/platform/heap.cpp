#include "core/platform/heap.hpp"

#include <malloc.h>

namespace driftscope {

std::int64_t heap_in_use() {
  const struct mallinfo all = mallinfo();
  return static_cast<std::int64_t>(static_cast<std::size_t>(all.uordblks));
}

}  // namespace driftscope
