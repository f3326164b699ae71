// After pthreadpool's own backend for Grand Central Dispatch (gcd.c). Compiled with its headers by
// cmake/xnnpack.cmake.
#include "core/engines/fast/pthreadpool_backend.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "threadpool-common.h"

#include <pthreadpool.h>

#include "threadpool-atomics.h"
#include "threadpool-object.h"
#include "threadpool-utils.h"

// Lies before the pool, whose layout is pthreadpool's.
struct PTHREADPOOL_CACHELINE_ALIGNED owner {
  ds_run_all run;
  void* threads;
};

static struct owner* owner_of(struct pthreadpool* pool) { return (struct owner*)pool - 1; }

static void run_part(void* context, size_t index) {
  struct pthreadpool* pool = context;
  const thread_function_t function =
      (thread_function_t)pthreadpool_load_relaxed_void_p(&pool->thread_function);
  const bool flush =
      (pthreadpool_load_relaxed_uint32_t(&pool->flags) & PTHREADPOOL_FLAG_DISABLE_DENORMALS) != 0;
  const struct fpu_state saved = get_fpu_state();
  if (flush) disable_fpu_denormals();
  function(pool, &pool->threads[index]);
  if (flush) set_fpu_state(saved);
}

struct pthreadpool* ds_pthreadpool_create(size_t count, ds_run_all run, void* threads) {
  struct owner* owner = NULL;
  const size_t fixed = sizeof(struct owner) + sizeof(struct pthreadpool);
  if (count == 0 || count > (SIZE_MAX - fixed) / sizeof(struct thread_info)) return NULL;
  const size_t size = fixed + count * sizeof(struct thread_info);
  if (posix_memalign((void**)&owner, PTHREADPOOL_CACHELINE_SIZE, size) != 0) return NULL;
  memset(owner, 0, size);
  owner->run = run;
  owner->threads = threads;
  struct pthreadpool* pool = (struct pthreadpool*)(owner + 1);
  pool->threads_count = fxdiv_init_size_t(count);
  for (size_t i = 0; i < count; ++i) {
    pool->threads[i].thread_number = i;
    pool->threads[i].threadpool = pool;
  }
  return pool;
}

void pthreadpool_destroy(struct pthreadpool* pool) {
  if (pool != NULL) free(owner_of(pool));
}

// Called by pthreadpool for more than one item and more than one thread. A session runs one engine at
// a time and that one operator after operator, so there is nothing to be locked out here.
PTHREADPOOL_INTERNAL void pthreadpool_parallelize(struct pthreadpool* pool, thread_function_t function,
                                                  const void* params, size_t params_size, void* task,
                                                  void* argument, size_t range, uint32_t flags) {
  pthreadpool_store_relaxed_void_p(&pool->thread_function, (void*)function);
  pthreadpool_store_relaxed_void_p(&pool->task, task);
  pthreadpool_store_relaxed_void_p(&pool->argument, argument);
  pthreadpool_store_relaxed_uint32_t(&pool->flags, flags);
  if (params_size != 0) memcpy(&pool->params, params, params_size);
  const struct fxdiv_result_size_t share = fxdiv_divide_size_t(range, pool->threads_count);
  size_t begin = 0;
  for (size_t i = 0; i < pool->threads_count.value; ++i) {
    struct thread_info* thread = &pool->threads[i];
    const size_t length = share.quotient + (size_t)(i < share.remainder);
    pthreadpool_store_relaxed_size_t(&thread->range_start, begin);
    pthreadpool_store_relaxed_size_t(&thread->range_end, begin + length);
    pthreadpool_store_relaxed_size_t(&thread->range_length, length);
    begin += length;
  }
  const struct owner* owner = owner_of(pool);
  owner->run(owner->threads, pool->threads_count.value, &run_part, pool);
}
