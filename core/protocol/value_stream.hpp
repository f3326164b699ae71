// Sends captured values from a run to their destination, in pieces, so that neither side holds
// a whole trace. The side of the run packs them into the responses to "poll", a page forwards them as a
// document "values" (messages.json). Pieces come in order; a tensor is complete before the next begins.
// Clients: run (packs), the server (unpacks), web/worker/worker.mjs (forwards them).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/trace/record.hpp"
#include "generated/protocol/messages.hpp"

namespace driftscope {

/// Values waiting to be taken. They share their buffers with the run: only values made
/// since the last piece was taken are waiting.
class ValueStream {
 public:
  void add(const std::string& name, const Tensor& tensor);
  [[nodiscard]] bool empty() const { return waiting_.empty(); }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }  ///< that wait

  struct Pieces {
    std::vector<messages::Piece> table;
    std::vector<std::byte> payload;
  };
  /// At most `limit` bytes from the front.
  [[nodiscard]] Pieces take(std::size_t limit);

 private:
  std::deque<NamedTensor> waiting_;
  std::size_t taken_ = 0;  // of the first one's bytes
  std::int64_t bytes_ = 0;
};

/// Reassembles tensors and passes each to the sink. The input is untrusted: every size is
/// checked, and all tensors together may have `limit` bytes.
class ValueReceiver {
 public:
  ValueReceiver(TensorSink sink, std::int64_t limit) : sink_(std::move(sink)), left_(limit) {}

  /// A message with the table as its JSON's "values". An error ends the stream: the sink's, or a message
  /// that is malformed or does not continue the previous one.
  [[nodiscard]] Status take(std::span<const std::byte> message);
  /// Whether the last tensor is complete.
  [[nodiscard]] Status finish() const;

 private:
  struct Piece;
  [[nodiscard]] Status take_piece(const Piece& piece, std::span<const std::byte> bytes);

  TensorSink sink_;
  std::int64_t left_;
  std::optional<NamedTensor> open_;  // not complete yet
  std::size_t filled_ = 0;
};

}  // namespace driftscope
