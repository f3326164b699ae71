// One connection of another machine: TLS outside, a connection to a server on the loopback interface inside,
// and the bytes between them. Never waits: the client calls step when poll says that something can move.
// Client: front. It knows no HTTP, but that the other machine speaks first.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/http/tls/openssl.hpp"
#include "native/os/file_descriptor.hpp"

namespace driftscope {

/// How long a connection may take.
struct PassageLimits {
  std::chrono::milliseconds first_bytes{10000};  ///< for the handshake and the first bytes together
  std::chrono::milliseconds idle{90000};         ///< without a byte in either direction
  std::chrono::milliseconds whole{180000};       ///< for all of it, and a second more for every
  std::size_t rate = 16 * 1024;                  ///< so many bytes
  std::chrono::milliseconds farewell{1000};      ///< for the other end to close, after all was sent
};

class Passage {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// `outside` is a connected socket that does not block, `session` a fresh one for it.
  Passage(FileDescriptor outside, tls::Session session, std::uint32_t address, int to_port,
          const PassageLimits& limits, Time now);

  /// Moves what can be moved. True: more can be moved without waiting.
  bool step(Time now);
  /// True once: as soon as it holds nothing of the server's, or when it is over. A browser may take its time
  /// to close a connection whose answer it has.
  [[nodiscard]] bool leaves(bool over) {
    const bool now = !left_ && (over || stage_ == Stage::farewell || stage_ == Stage::over);
    left_ = left_ || now;
    return now;
  }
  [[nodiscard]] bool over(Time now) const;

  /// What poll is to wait for; a descriptor of -1: nothing. `inside` is that of the server.
  struct Wanted {
    int fd = -1;
    short events = 0;
  };
  [[nodiscard]] Wanted outside() const;
  [[nodiscard]] Wanted inside() const;
  /// What poll has seen outside, where nobody reads at the moment.
  void seen_outside(short events);

  [[nodiscard]] std::uint32_t address() const { return address_; }

 private:
  /// Bytes on their way in one direction: no more than these are kept.
  class Buffer {
   public:
    [[nodiscard]] bool empty() const { return begin_ == end_; }
    [[nodiscard]] bool full() const { return end_ - begin_ == bytes_.size(); }
    [[nodiscard]] const std::byte* data() const { return bytes_.data() + begin_; }
    [[nodiscard]] std::size_t size() const { return end_ - begin_; }
    [[nodiscard]] std::byte* space();  ///< behind the bytes, after all free space was moved there
    [[nodiscard]] std::size_t room() const { return bytes_.size() - size(); }
    void add(std::size_t count) { end_ += count; }
    void take(std::size_t count);
    void clear() { begin_ = end_ = 0; }

   private:
    std::array<std::byte, 32 * 1024> bytes_{};
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
  };
  enum class Stage { handshake, open, farewell, over };

  bool shake_hands();
  bool move(Time now);
  bool read_outside();
  bool write_outside();
  bool read_inside();
  bool write_inside();
  bool connect_inside();
  void say_farewell(Time now);
  void drain_outside();
  /// Of a call that moved nothing: what it waits for.
  void wait_for(int result, short& waits);

  FileDescriptor outside_;
  FileDescriptor inside_;
  tls::Session session_;
  const std::uint32_t address_;
  const int to_port_;
  const PassageLimits& limits_;
  Stage stage_ = Stage::handshake;
  bool outside_ended_ = false;  // nothing more will come from there
  bool inside_ended_ = false;
  bool told_inside_ = false;  // that nothing more will come
  // TLS may have to write in order to read, and the other way round.
  short reading_waits_ = 0;
  short writing_waits_ = 0;
  Buffer in_;   // to the server
  Buffer out_;  // to the other machine
  std::size_t moved_ = 0;
  bool left_ = false;  // see leaves()
  const Time begun_;
  Time last_;      // something moved
  Time farewell_;  // begun
};

}  // namespace driftscope
