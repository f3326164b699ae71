// XNNPACK's threads: a pthreadpool that runs on our ThreadPool. So nodes on strict kernels and
// XNNPACK's operators share one set of threads (a browser has only those started beforehand), and
// none of them spins while the other works.
// Clients: the fast engine.
#pragma once

#include <memory>

#include "core/platform/platform.hpp"

struct pthreadpool;

namespace driftscope {

struct PthreadpoolDeleter {
  void operator()(pthreadpool* pool) const;
};
using PthreadpoolPtr = std::unique_ptr<pthreadpool, PthreadpoolDeleter>;

/// Null when there is no memory. `threads` must outlive it; one thread may use the two at a time.
[[nodiscard]] PthreadpoolPtr pthreadpool_on(ThreadPool& threads);

}  // namespace driftscope
