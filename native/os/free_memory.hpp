// Memory that was freed, back to the system. The program keeps what it frees for later layers (main.cpp);
// between stages that need other sizes this would add up. Client: NativeComparisonHost.
#pragma once

namespace driftscope {

/// Whole free pages of the heap; those in use stay. Takes milliseconds. Nothing where the C library has no
/// such call.
void give_back_free_memory();

}  // namespace driftscope
