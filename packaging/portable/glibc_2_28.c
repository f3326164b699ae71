// What glibc 2.28 lacks of what objects compiled with newer headers, and GCC 12's libraries, ask for. Linked
// into the portable program alone (link.py).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

// glibc 2.33 made functions of these, which were inline before.
enum { stat_version = 1 };
int __xstat(int, const char*, struct stat*);
int __lxstat(int, const char*, struct stat*);
int __fxstat(int, int, struct stat*);
int __fxstatat(int, int, const char*, struct stat*, int);
int __xstat64(int, const char*, struct stat64*);
int __lxstat64(int, const char*, struct stat64*);
int __fxstat64(int, int, struct stat64*);
int stat(const char* path, struct stat* to) { return __xstat(stat_version, path, to); }
int lstat(const char* path, struct stat* to) { return __lxstat(stat_version, path, to); }
int fstat(int fd, struct stat* to) { return __fxstat(stat_version, fd, to); }
int fstatat(int fd, const char* path, struct stat* to, int flags) {
  return __fxstatat(stat_version, fd, path, to, flags);
}
int stat64(const char* path, struct stat64* to) { return __xstat64(stat_version, path, to); }
int lstat64(const char* path, struct stat64* to) { return __lxstat64(stat_version, path, to); }
int fstat64(int fd, struct stat64* to) { return __fxstat64(stat_version, fd, to); }

// 2.32. Not single-threaded: counts of references are always atomic.
char __libc_single_threaded = 0;

// 2.33. Where the system has it, that one: the older one counts in int.
struct mallinfo2 mallinfo2(void) {
  struct mallinfo2 (*const newer)(void) = (struct mallinfo2(*)(void))dlsym(RTLD_NEXT, "mallinfo2");
  if (newer) return newer();
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  const struct mallinfo old = mallinfo();
  const struct mallinfo2 info = {
      .arena = (unsigned)old.arena,
      .ordblks = (unsigned)old.ordblks,
      .smblks = (unsigned)old.smblks,
      .hblks = (unsigned)old.hblks,
      .hblkhd = (unsigned)old.hblkhd,
      .usmblks = (unsigned)old.usmblks,
      .fsmblks = (unsigned)old.fsmblks,
      .uordblks = (unsigned)old.uordblks,
      .fordblks = (unsigned)old.fordblks,
      .keepcost = (unsigned)old.keepcost,
  };
  return info;
}

// 2.30. Until then a condition waits by the clock that it was made with: the wall's, unless asked otherwise.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  struct timespec now, wall;
  if (clock == CLOCK_REALTIME) return pthread_cond_timedwait(condition, mutex, until);
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &wall);
  const long second = 1000000000;
  wall.tv_sec += until->tv_sec - now.tv_sec;
  wall.tv_nsec += until->tv_nsec - now.tv_nsec;
  if (wall.tv_nsec < 0) wall.tv_nsec += second, --wall.tv_sec;
  if (wall.tv_nsec >= second) wall.tv_nsec -= second, ++wall.tv_sec;
  return pthread_cond_timedwait(condition, mutex, &wall);
}

// 2.36, of std::random_device.
uint32_t arc4random(void) {
  uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) {
  }
  return number;
}

// 2.35, by which exceptions find the tables of the code that they pass.
static int holds(struct dl_phdr_info* info, size_t size, void* sought) {
  (void)size;
  struct dl_find_object* const found = sought;
  const uintptr_t address = (uintptr_t)found->dlfo_map_start;
  const void* tables = NULL;
  int inside = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* const part = &info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_GNU_EH_FRAME) tables = (const void*)begin;
    if (part->p_type != PT_LOAD || address < begin || address >= begin + part->p_memsz) continue;
    inside = 1;
    found->dlfo_map_end = (void*)(begin + part->p_memsz);
  }
  if (!inside || !tables) return 0;
  found->dlfo_eh_frame = (void*)tables;
  return 1;
}

int _dl_find_object(void* address, struct dl_find_object* found) {
  *found = (struct dl_find_object){.dlfo_map_start = address};
  return dl_iterate_phdr(holds, found) == 1 ? 0 : -1;
}
