// Locks of files between processes (locks.mjs): of an open file, as flock(2), and of the process, as
// fcntl(2), which SQLite asks for. Clients: files.cpp.
#pragma once

namespace driftscope::node {

/// 0, or -errno: EAGAIN where another process has it, or (unless `of_process`) another descriptor.
int lock_file(int fd, bool of_process);
/// By whichever descriptor of this process it was locked, if `of_process`.
void unlock_file(int fd, bool of_process);
/// Before it is closed.
void release_lock(int fd);

}  // namespace driftscope::node
