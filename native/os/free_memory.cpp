#include "native/os/free_memory.hpp"

#include <malloc.h>

namespace driftscope {

void give_back_free_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace driftscope
