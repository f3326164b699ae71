#include "native/os/free_memory.hpp"

#include <malloc.h>

namespace driftscope {

// On other C libraries what these ask for is the rule, or cannot be said.
void keep_free_memory() {
#ifdef __GLIBC__
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

void share_free_memory() {
#ifdef __GLIBC__
  ::mallopt(M_ARENA_MAX, 2);
#endif
}

void give_back_free_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace driftscope
