// The one request service: bytes in, bytes out. The command line, the HTTP server and the browser's
// worker are thin transports over it. A message is 4 bytes little-endian length of a JSON object,
// the JSON, then a binary payload (possibly empty).
//
// The contents of requests, responses and payloads are declared in messages.json, from which
// cmake/messages.py makes structs, decoders and checks; `driftscope schema` prints it. One service holds one
// model and one run or measurement at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/byte_source.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "core/trace/record.hpp"

namespace driftscope {

class RunRecorder;

/// Fills `target` with the bytes from `offset` on.
using ReadOutside = std::function<void(std::uint64_t offset, std::span<std::byte> target)>;

class Service {
 public:
  Service();
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Source of the payload of a "load" with "outside": bytes outside this program's memory. `in_place` as in
  /// ByteSource, of a host in the same process.
  void load_from(ReadOutside read, FindInPlace in_place = {});

  /// Captured values of the next run go to `sink`; the trace of its "finish" holds the outputs alone.
  /// For a host in the same process that writes them to a file: tensors may be deferred, to be copied
  /// piece by piece, on any one thread.
  void record_to(TensorSink sink);

  /// In place of the payload of the next "start": inputs of a host in the same process.
  void take_inputs(NamedInputs inputs);

  /// The trace of the next "finish" goes there, and its response has no payload: for a host in the same
  /// process, which would only read it again.
  void deliver_to(std::function<void(Trace)> receive);

  /// Receives the recordings of measured runs when they are traced, like record_to's sink; null: memory. It
  /// must outlive the service.
  void measure_into(RunRecorder* recorder);

  /// Never throws; the response to a malformed request is an error.
  [[nodiscard]] std::vector<std::byte> request(std::span<const std::byte> message);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Assembles a message, and splits one (empty json for a malformed one).
[[nodiscard]] std::vector<std::byte> pack_message(std::string_view json, std::span<const std::byte> payload);
struct Message {
  std::string json;
  std::span<const std::byte> payload;
};
[[nodiscard]] Message unpack_message(std::span<const std::byte> bytes);

}  // namespace driftscope
