// The system calls on memory and on this process.
#include <errno.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "node/system/system.hpp"

extern "C" {

// The system writes to the disk when it likes.
int sync_file_range(int, off_t, off_t, unsigned) { return 0; }

ssize_t getrandom(void* bytes, size_t size, unsigned /*flags*/) {
  return getentropy(bytes, size) == 0 ? static_cast<ssize_t>(size) : -1;
}

// A file is read into memory. A mapping that should see what is written to the file later is refused: those
// who ask for one do without.
int _mmap_js(size_t length, int protection, int flags, int fd, off_t offset, int* allocated, void** address) {
  (void)protection;
  if ((flags & MAP_SHARED) != 0) return -ENODEV;
  void* memory = std::aligned_alloc(65536, (length + 65535) / 65536 * 65536);
  if (memory == nullptr) return -ENOMEM;
  auto* bytes = static_cast<std::byte*>(memory);
  std::size_t filled = 0;
  while (filled < length) {
    const int got = ds_file_read(fd, bytes + filled, std::min<std::size_t>(length - filled, 1 << 30),
                                 static_cast<double>(offset) + static_cast<double>(filled));
    if (got < 0) {
      std::free(memory);
      return got;
    }
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  std::memset(bytes + filled, 0, length - filled);
  *allocated = 1;
  *address = memory;
  return 0;
}
int _munmap_js(intptr_t, size_t, int, int, int, off_t) { return 0; }
int _msync_js(intptr_t, size_t, int, int, int, off_t) { return 0; }

int __syscall_sync() { return 0; }
int __syscall_getpid() { return ds_process_id(); }
int __syscall_getuid32() { return ds_user_id(); }
int __syscall_geteuid32() { return ds_user_id(); }
int __syscall_getgid32() { return ds_user_id(); }
int __syscall_getegid32() { return ds_user_id(); }

}  // extern "C"
