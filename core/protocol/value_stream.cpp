#include "core/protocol/value_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/protocol/fields.hpp"
#include "core/protocol/service.hpp"

namespace driftscope {
namespace {

using nlohmann::json;

Result<DType> read_dtype(const std::string& name) {
  for (std::int64_t number = 0; number < 64; ++number)
    if (const auto dtype = dtype_from_onnx(number); dtype && dtype_name(*dtype) == name) return *dtype;
  return bad_input("there is no dtype " + in_quotes(name));
}

Result<Shape> read_shape(const json& entry) {
  const auto found = entry.find("shape");
  if (found == entry.end() || !found->is_array() || found->size() > max_rank)
    return bad_input(fmt::format("\"shape\" must be an array of at most {} sizes", max_rank));
  Shape shape;
  for (const json& size : *found) {
    // tensor_byte_size judges negative ones; a large unsigned number would become one.
    const bool fits =
        size.is_number_integer() &&
        (!size.is_number_unsigned() || size.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX));
    if (!fits) return bad_input("\"shape\" holds something else than sizes");
    shape.push_back(size.get<std::int64_t>());
  }
  return shape;
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
    pieces.table.push_back({{"name", name},
                            {"dtype", dtype_name(tensor.dtype())},
                            {"shape", tensor.shape()},
                            {"begin", taken_},
                            {"bytes", count}});
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

  static Result<Piece> read(const json& entry) {
    if (!entry.is_object()) return bad_input("an entry is no object");
    Piece piece;
    DRIFTSCOPE_TRY(const auto name, read_text(entry, "name"));
    DRIFTSCOPE_TRY(const auto dtype, read_text(entry, "dtype"));
    DRIFTSCOPE_TRY(const auto begin, read_int(entry, "begin", 0, max_tensor_bytes));
    DRIFTSCOPE_TRY(const auto bytes, read_int(entry, "bytes", 0, max_tensor_bytes));
    if (!name || !dtype || !begin || !bytes)
      return bad_input("an entry needs \"name\", \"dtype\", \"begin\" and \"bytes\"");
    piece.name = *name;
    DRIFTSCOPE_TRY(piece.dtype, read_dtype(*dtype));
    DRIFTSCOPE_TRY(piece.shape, read_shape(entry));
    piece.begin = static_cast<std::size_t>(*begin);
    piece.bytes = static_cast<std::size_t>(*bytes);
    return piece;
  }
};

Status ValueReceiver::take_piece(const Piece& piece, std::span<const std::byte> bytes) {
  if (piece.begin == 0 && !open_) {
    DRIFTSCOPE_TRY(const std::int64_t size, tensor_byte_size(piece.dtype, piece.shape, piece.name));
    if (size > left_)
      return limit_error(
          fmt::format("{}: its {} bytes pass the limit of all values; capture fewer of "
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
    return bad_input(fmt::format("{}: {} bytes at {} do not continue what came before", in_quotes(piece.name),
                                 bytes.size(), piece.begin));
  if (!bytes.empty()) std::memcpy(open_->tensor.mutable_bytes().data() + filled_, bytes.data(), bytes.size());
  filled_ += bytes.size();
  if (filled_ < open_->tensor.bytes().size()) return {};
  const NamedTensor complete = *std::exchange(open_, std::nullopt);
  return sink_(complete.name, complete.tensor);
}

Status ValueReceiver::take(std::span<const std::byte> message) {
  const Message unpacked = unpack_message(message);
  const json head = parse_json(unpacked.json);
  const auto table = head.is_object() ? head.find("values") : head.end();
  if (!head.is_object() || table == head.end() || !table->is_array())
    return bad_input("values: malformed message");
  auto payload = unpacked.payload;
  for (const json& entry : *table) {
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
  return bad_input(fmt::format("values: {} broke off after {} of {} bytes", in_quotes(open_->name), filled_,
                               open_->tensor.bytes().size()));
}

}  // namespace driftscope
