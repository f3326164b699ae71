// What the program for Node asks of it: the functions of system.js, and waiting for what ends later. Clients:
// the other sources of node/. Nothing in native/ includes it: there the C library is called as ever, and
// files.cpp and sockets.cpp answer its system calls.
#pragma once

#include <emscripten/threading.h>

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>

extern "C" {

// Files, on the thread that asks. A result below 0 is -errno.
int ds_file_open(const char* path, int flags, int mode);
int ds_file_close(int fd);
/// `position` −1: where the file is, which only pipes and terminals have.
int ds_file_read(int fd, std::byte* bytes, std::size_t size, double position);
int ds_file_write(int fd, const std::byte* bytes, std::size_t size, double position);
/// Writes dev, ino, mode, nlink, uid, gid, rdev, size, blksize, blocks and the times of access, change of
/// content and of status in ms. `fd` ≥ 0: that one; else `path`.
int ds_file_status(int fd, const char* path, int follow, double* thirteen);
/// Names in a folder, each ended by a zero, with a byte before it: its DT_ type. The caller frees them.
int ds_file_names(const char* path, char** names, std::size_t* size);
/// "rename", "unlink", …: a function of node:fs with one or two paths, or a number.
int ds_file_call(const char* function, const char* path, const char* other, double number);
int ds_file_flush(int fd);
int ds_file_resize(int fd, double size);
int ds_file_mode(int fd, int mode);
/// Texts are written with their zero; the result is their length.
int ds_read_link(const char* path, char* text, std::size_t size);
int ds_current_folder(char* text, std::size_t size);
int ds_is_terminal(int fd);

// This process.
int ds_process_id();
int ds_user_id();
int ds_file_mask();
int ds_terminal_columns();

// Connections, on the main thread. Where there is a `wake`, it becomes 1 + an errno when the thing is done.
int ds_socket_open();
int ds_socket_pair(int* two);
int ds_socket_bind(int fd, const char* address, int port);
void ds_socket_listen(int fd, std::atomic<int>* wake);
void ds_socket_connect(int fd, const char* address, int port, std::atomic<int>* wake);
int ds_socket_accept(int fd);
int ds_socket_receive(int fd, std::byte* bytes, std::size_t size, int peek);
int ds_socket_send(int fd, const std::byte* bytes, std::size_t size);
int ds_socket_shutdown(int fd, int how);
int ds_socket_close(int fd);
/// Writes the address of this end, or of the other; the result is its port.
int ds_socket_address(int fd, int other_end, char* text, std::size_t size);
/// The events that have come, as poll(2) writes them; with a `wake` that becomes not 0 when there is one.
int ds_socket_poll(void* pollfds, int count, std::atomic<int>* wake);
void ds_socket_forget(std::atomic<int>* wake);

// Processes, on the main thread. Texts are JSON (processes.mjs).
void ds_process_start(const char* json, int* pid, std::atomic<int>* wake);
/// 0: it runs; else 1 + the exit status, or -(the number of the signal that ended it).
int ds_process_state(int pid);
/// The caller frees the answer.
void ds_process_ask(const char* json, char** answer, std::atomic<int>* wake);
/// `wake` becomes the number of a signal that has come.
void ds_watch_signals(std::atomic<int>* wake);
void ds_end_by_signal(int number);

/// A hash of node:crypto, as base64 with its zero; the result is its length.
int ds_hash(const char* name, const std::byte* bytes, std::size_t size, char* text, std::size_t room);

}  // extern "C"

namespace driftscope::node {

/// Descriptors of connections are above those of files.
inline constexpr int first_socket = 1 << 20;
inline bool is_socket(int fd) { return fd >= first_socket; }

/// Until `wake` is no longer 0, at most `milliseconds`; its value.
inline int wait_for(std::atomic<int>& wake, double milliseconds = INFINITY) {
  const double end = emscripten_get_now() + milliseconds;
  while (wake.load() == 0) {
    const double left = end - emscripten_get_now();
    if (left <= 0.0) break;
    emscripten_futex_wait(&wake, 0, left);
  }
  return wake.load();
}

/// Calls start(&wake) and waits: 0, or -errno.
template <class Start>
int wait_until_done(const Start& start) {
  std::atomic<int> wake = 0;
  start(&wake);
  return -(wait_for(wake) - 1);
}

}  // namespace driftscope::node
