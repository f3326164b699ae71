// Compiled for size on the web (cmake/core.cmake).
#include "core/model/model_outline.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>

namespace driftscope {
namespace {

using Bytes = std::vector<std::byte>;

struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  [[nodiscard]] std::uint64_t size() const { return end - begin; }
};

// Wire types of protobuf.
constexpr std::uint64_t wire_varint = 0, wire_64_bit = 1, wire_bytes = 2, wire_32_bit = 5;
constexpr int max_varint_bytes = 10;

void append_varint(Bytes& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::byte>(value | 0x80));
  out.push_back(static_cast<std::byte>(value));
}

void append_field(Bytes& out, std::uint64_t tag, std::string_view text) {
  append_varint(out, tag << 3 | wire_bytes);
  append_varint(out, text.size());
  for (const char c : text) out.push_back(static_cast<std::byte>(c));
}

void append_range(Bytes& out, const ByteSource& source, Range range) {
  const std::size_t at = out.size();
  out.resize(at + static_cast<std::size_t>(range.size()));
  source.read(range.begin, std::span(out).subspan(at));
}

/// Iterates over the fields of a message in a source; only their headers are read.
class Fields {
 public:
  Fields(const ByteSource& source, Range message) : source_(source), at_(message.begin), end_(message.end) {}

  /// False at the end, and where the message is malformed.
  bool next() {
    whole.begin = at_;
    std::uint64_t key = 0;
    if (at_ == end_ || !varint(key)) return false;
    tag = key >> 3;
    wire_type = key & 7;
    std::uint64_t size = 0;
    switch (wire_type) {
      case wire_varint:
        if (!varint(number)) return false;
        break;
      case wire_64_bit: size = 8; break;
      case wire_32_bit: size = 4; break;
      case wire_bytes:
        if (!varint(size)) return false;
        break;
      default: return false;
    }
    if (size > end_ - at_) return false;
    payload = {at_, at_ + size};
    at_ += size;
    whole.end = at_;
    return true;
  }

  [[nodiscard]] bool at_end() const { return at_ == end_; }

  std::uint64_t tag = 0;
  std::uint64_t wire_type = 0;
  std::uint64_t number = 0;  ///< of a varint
  Range whole;               ///< of the field, including its key
  Range payload;             ///< for a bytes field: without key and length

 private:
  bool varint(std::uint64_t& value) {
    value = 0;
    for (int i = 0; i < max_varint_bytes && at_ < end_; ++i) {
      const auto byte = std::to_integer<std::uint64_t>(byte_at(at_++));
      value |= (byte & 0x7f) << (7 * i);
      if (byte < 0x80) return true;
    }
    return false;
  }

  std::byte byte_at(std::uint64_t at) {
    if (at < window_.begin || at >= window_.end) {
      window_ = {at, std::min<std::uint64_t>(at + bytes_.size(), end_)};
      source_.read(at, std::span(bytes_).first(static_cast<std::size_t>(window_.size())));
    }
    return bytes_[static_cast<std::size_t>(at - window_.begin)];
  }

  const ByteSource& source_;
  std::uint64_t at_;
  std::uint64_t end_;
  Range window_;
  std::array<std::byte, 256> bytes_{};
};

/// The replacement for a bytes field (itself a message); nothing: the field stays.
using Rewrite = std::function<std::optional<Bytes>(std::uint64_t tag, Range payload)>;

/// Nothing if no field was replaced, or if the message is malformed.
std::optional<Bytes> rewritten(const ByteSource& source, Range message, const Rewrite& rewrite) {
  Bytes out;
  std::uint64_t copied = message.begin;  // up to here `message` is in `out`
  Fields field(source, message);
  while (field.next()) {
    if (field.wire_type != wire_bytes) continue;
    const auto instead = rewrite(field.tag, field.payload);
    if (!instead) continue;
    append_range(out, source, {copied, field.whole.begin});
    append_varint(out, field.tag << 3 | wire_bytes);
    append_varint(out, instead->size());
    out.insert(out.end(), instead->begin(), instead->end());
    copied = field.whole.end;
  }
  if (!field.at_end() || copied == message.begin) return std::nullopt;
  append_range(out, source, {copied, message.end});
  return out;
}

Bytes external_entry(std::string_view key, std::string_view value) {
  Bytes entry;
  append_field(entry, 1, key);
  append_field(entry, 2, value);
  return entry;
}

/// TensorProto: its raw_data (9) becomes external_data (13) and data_location (14) = EXTERNAL.
std::optional<Bytes> outline_tensor(const ByteSource& source, Range message) {
  std::optional<Range> whole;
  Range data;
  Fields field(source, message);
  while (field.next()) {
    if (field.tag == 13 || (field.tag == 14 && field.number != 0) || (field.tag == 9 && whole))
      return std::nullopt;
    if (field.tag != 9) continue;
    if (field.wire_type != wire_bytes) return std::nullopt;
    whole = field.whole;
    data = field.payload;
  }
  if (!field.at_end() || !whole || data.size() < min_outlined_bytes) return std::nullopt;
  Bytes out;
  append_range(out, source, {message.begin, whole->begin});
  append_range(out, source, {whole->end, message.end});
  const std::pair<std::string_view, std::string> entries[] = {{"location", std::string(own_bytes_location)},
                                                              {"offset", std::to_string(data.begin)},
                                                              {"length", std::to_string(data.size())}};
  for (const auto& [key, value] : entries) {
    const Bytes entry = external_entry(key, value);
    append_varint(out, 13 << 3 | wire_bytes);
    append_varint(out, entry.size());
    out.insert(out.end(), entry.begin(), entry.end());
  }
  append_varint(out, 14 << 3 | wire_varint);
  append_varint(out, 1);
  return out;
}

}  // namespace

std::vector<std::byte> outline_model(const ByteSource& model) {
  const auto in_graph = [&](std::uint64_t tag, Range payload) -> std::optional<Bytes> {
    if (tag != 5 || payload.size() < min_outlined_bytes) return std::nullopt;  // initializer
    return outline_tensor(model, payload);
  };
  const auto in_model = [&](std::uint64_t tag, Range payload) -> std::optional<Bytes> {
    if (tag != 7) return std::nullopt;  // graph
    return rewritten(model, payload, in_graph);
  };
  const Range all = {0, model.size};
  if (auto outlined = rewritten(model, all, in_model)) return *std::move(outlined);
  Bytes whole;
  append_range(whole, model, all);
  return whole;
}

}  // namespace driftscope
