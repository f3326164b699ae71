// A pthreadpool on threads that it does not own. Clients: pthreadpool_on.cpp.
// pthreadpool divides the work and lets idle threads take over; running one function on every thread,
// and knowing when all are done, is what differs between its backends. This is one of them.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pthreadpool;

/// Calls task(context, i) once for every i in [0, count), in any order and on any thread, and returns
/// when all calls have returned. `threads` is what ds_pthreadpool_create was given.
typedef void (*ds_run_all)(void* threads, size_t count, void (*task)(void* context, size_t i), void* context);

/// A pool that divides work for `count` ≥ 1 threads and runs it by `run`; null when there is no memory.
/// To be ended by pthreadpool_destroy, before `threads`.
struct pthreadpool* ds_pthreadpool_create(size_t count, ds_run_all run, void* threads);

#ifdef __cplusplus
}
#endif
