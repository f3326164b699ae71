#include "core/protocol/value_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/protocol/schema.hpp"
#include "core/protocol/service.hpp"

namespace driftscope {
namespace {

Result<DType> read_dtype(const std::string& name) {
  for (std::int64_t number = 0; number < 64; ++number)
    if (const auto dtype = dtype_from_onnx(number); dtype && dtype_name(*dtype) == name) return *dtype;
  return bad_input("there is no dtype " + in_quotes(name));
}

}  // namespace

void ValueStream::add(const std::string& name, const Tensor& tensor) {
  waiting_.push_back({name, tensor});
  bytes_ += static_cast<std::int64_t>(tensor.bytes().size());
}

ValueStream::Pieces ValueStream::take(std::size_t limit) {
  Pieces pieces;
  while (!waiting_.empty()) {
    const auto& [name, tensor] = waiting_.front();
    const auto rest = tensor.bytes().subspan(taken_);
    const std::size_t count = std::min(rest.size(), limit - pieces.payload.size());
    if (count == 0 && !rest.empty()) break;
    pieces.table.push_back({.name = name,
                            .dtype = std::string(dtype_name(tensor.dtype())),
                            .shape = {tensor.shape().begin(), tensor.shape().end()},
                            .begin = static_cast<std::int64_t>(taken_),
                            .bytes = static_cast<std::int64_t>(count)});
    pieces.payload.insert(pieces.payload.end(), rest.begin(),
                          rest.begin() + static_cast<std::ptrdiff_t>(count));
    taken_ += count;
    bytes_ -= static_cast<std::int64_t>(count);
    if (count < rest.size()) break;
    waiting_.pop_front();
    taken_ = 0;
  }
  return pieces;
}

struct ValueReceiver::Piece {
  std::string name;
  DType dtype = DType::undefined;
  Shape shape;
  std::size_t begin = 0;
  std::size_t bytes = 0;

  static Result<Piece> read(const messages::Piece& given) {
    if (given.shape.size() > max_rank)
      return bad_input(fmt::format("\"shape\" must be an array of at most {} sizes", max_rank));
    Piece piece;
    piece.name = given.name;
    DRIFTSCOPE_TRY(piece.dtype, read_dtype(given.dtype));
    piece.shape.assign(given.shape.begin(), given.shape.end());
    piece.begin = static_cast<std::size_t>(given.begin);
    piece.bytes = static_cast<std::size_t>(given.bytes);
    return piece;
  }
};

Status ValueReceiver::take_piece(const Piece& piece, std::span<const std::byte> bytes) {
  if (piece.begin == 0 && !open_) {
    DRIFTSCOPE_TRY(const std::int64_t size, tensor_byte_size(piece.dtype, piece.shape, piece.name));
    if (size > left_)
      return limit_error(
          fmt::format("{}: its {} bytes exceed the limit for all values; capture fewer of "
                      "them (--capture-nodes, --capture-ops, --capture-range)",
                      in_quotes(piece.name), size));
    left_ -= size;
    DRIFTSCOPE_TRY(Tensor tensor, Tensor::make(piece.dtype, piece.shape, piece.name));
    open_ = NamedTensor{piece.name, std::move(tensor)};
    filled_ = 0;
  }
  if (!open_ || open_->name != piece.name || open_->tensor.dtype() != piece.dtype ||
      open_->tensor.shape() != piece.shape || piece.begin != filled_ ||
      bytes.size() > open_->tensor.bytes().size() - filled_)
    return bad_input(fmt::format("{}: {} bytes at {} do not continue the bytes before", in_quotes(piece.name),
                                 bytes.size(), piece.begin));
  if (!bytes.empty()) std::memcpy(open_->tensor.mutable_bytes().data() + filled_, bytes.data(), bytes.size());
  filled_ += bytes.size();
  if (filled_ < open_->tensor.bytes().size()) return {};
  const NamedTensor complete = *std::exchange(open_, std::nullopt);
  return sink_(complete.name, complete.tensor);
}

Status ValueReceiver::take(std::span<const std::byte> message) {
  const Message unpacked = unpack_message(message);
  messages::Values head;
  DRIFTSCOPE_CHECK(decode(parse_json(unpacked.json), head));
  auto payload = unpacked.payload;
  for (const messages::Piece& entry : head.values) {
    auto piece = Piece::read(entry);
    if (!piece.ok()) return in_context(std::move(piece).error(), "values");
    if (piece->bytes > payload.size())
      return bad_input(fmt::format("values: {}: {} bytes are announced, {} came", in_quotes(piece->name),
                                   piece->bytes, payload.size()));
    DRIFTSCOPE_CHECK(take_piece(*piece, payload.first(piece->bytes)));
    payload = payload.subspan(piece->bytes);
  }
  if (!payload.empty())
    return bad_input(fmt::format("values: {} bytes came that no entry announced", payload.size()));
  return {};
}

Status ValueReceiver::finish() const {
  if (!open_) return {};
  return bad_input(fmt::format("values: {} ended after {} of {} bytes", in_quotes(open_->name), filled_,
                               open_->tensor.bytes().size()));
}

}  // namespace driftscope
