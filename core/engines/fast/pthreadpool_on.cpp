#include "core/engines/fast/pthreadpool_on.hpp"

#include <pthreadpool.h>

#include "core/engines/fast/pthreadpool_backend.h"

namespace driftscope {

namespace {

void run_all(void* threads, std::size_t count, void (*task)(void*, std::size_t), void* context) {
  static_cast<ThreadPool*>(threads)->parallel_for(static_cast<std::int64_t>(count), 1,
                                                  [=](std::int64_t begin, std::int64_t end) {
                                                    for (std::int64_t i = begin; i < end; ++i)
                                                      task(context, static_cast<std::size_t>(i));
                                                  });
}

}  // namespace

void PthreadpoolDeleter::operator()(pthreadpool* pool) const { pthreadpool_destroy(pool); }

PthreadpoolPtr pthreadpool_on(ThreadPool& threads) {
  return PthreadpoolPtr(ds_pthreadpool_create(static_cast<std::size_t>(threads.size()), &run_all, &threads));
}

}  // namespace driftscope
