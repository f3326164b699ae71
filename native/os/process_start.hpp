// What every program of ours does first. Clients: the mains of the command line and the window.
#pragma once

namespace driftscope {

/// Before anything else: closed standard files are opened on nothing; a closed pipe and a limit of file sizes
/// become errors of a write instead of fatal signals; a mapped file that becomes shorter ends the program
/// with a sentence and `exit_code`.
void guard_process(int exit_code);

}  // namespace driftscope
