// What becomes of memory that was freed. Clients: the command line and serve, which keep it for later layers;
// NativeComparisonHost, since between stages that need other sizes it would add up.
#pragma once

namespace driftscope {

/// From here on, freed memory is kept for later layers, which get it in less time than fresh pages take.
void keep_free_memory();

/// From here on, threads share what is free: any of them may run a model, and glibc keeps what each of its
/// arenas has once held.
void share_free_memory();

/// Whole free pages of the heap; those in use stay. Takes milliseconds. Nothing where the C library has no
/// such call.
void give_back_free_memory();

}  // namespace driftscope
