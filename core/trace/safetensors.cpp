#include "core/trace/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <set>
#include <tuple>

#include "core/base/checked.hpp"
#include "core/base/text.hpp"
#include "core/trace/safetensors_header.hpp"

namespace driftscope {
namespace {

constexpr std::size_t length_bytes = 8;

/// The tensors must lie one after the other, from the first byte of the data to the last.
Status check_layout(const std::vector<SafetensorsEntry>& entries, std::size_t data_size) {
  std::int64_t next = 0;
  for (const SafetensorsEntry& entry : entries) {
    const std::string who = "tensor " + in_quotes(entry.name);
    if (entry.end < entry.begin || static_cast<std::uint64_t>(entry.end) > data_size)
      return bad_input(
          fmt::format("{}: data_offsets [{}, {}] lie outside of the {} bytes of data; "
                      "the file is truncated, or still being written",
                      who, entry.begin, entry.end, data_size));
    if (entry.begin != next)
      return bad_input(
          fmt::format("{}: its data starts at {}, expected {}: tensors must neither "
                      "overlap nor leave holes",
                      who, entry.begin, next));
    next = entry.end;
  }
  if (static_cast<std::uint64_t>(next) != data_size)
    return bad_input(fmt::format("{} bytes of data, but the tensors take {}", data_size, next));
  return {};
}

Result<Tensor> tensor_of(const SafetensorsEntry& entry, std::span<const std::byte> data) {
  const auto bytes =
      data.subspan(static_cast<std::size_t>(entry.begin), static_cast<std::size_t>(entry.end - entry.begin));
  // Any other byte as a bool is undefined behaviour in C++.
  if (entry.dtype == DType::boolean)
    for (const std::byte byte : bytes)
      if (byte > std::byte{1})
        return bad_input(fmt::format("tensor {}: a bool element is {}, expected 0 or 1",
                                     in_quotes(entry.name), std::to_integer<int>(byte)));
  return Tensor::from_bytes(entry.dtype, entry.shape, bytes, "tensor " + in_quotes(entry.name));
}

Result<SafetensorsHeader> plan(const Safetensors& file) {
  SafetensorsHeader header{file.metadata, {}};
  for (const auto& [key, text] : file.metadata)
    if (!valid_utf8(key) || !valid_utf8(text))
      return bad_input(fmt::format("__metadata__: {} is not UTF-8", in_quotes(key)));
  std::set<std::string_view> seen;
  std::int64_t next = 0;
  for (const auto& [name, tensor] : file.tensors) {
    const std::string who = "tensor " + in_quotes(name);
    if (!valid_utf8(name)) return bad_input(who + ": its name is not UTF-8");
    if (name == "__metadata__") return bad_input(who + ": the format reserves this name");
    if (!seen.insert(name).second) return bad_input(who + " is given twice");
    if (safetensors_dtype(tensor.dtype()).empty())
      return unsupported(fmt::format("{}: safetensors has no dtype for {}", who, dtype_name(tensor.dtype())));
    const auto end = checked_add(next, static_cast<std::int64_t>(tensor.bytes().size()));
    if (!end) return limit_error("the tensors are too large for one file");
    header.entries.push_back({name, tensor.dtype(), tensor.shape(), next, *end, header.entries.size()});
    next = *end;
  }
  return header;
}

Result<SafetensorsLayout> read_layout(std::span<const std::byte> bytes) {
  std::uint64_t length = 0;
  if (bytes.size() < length_bytes)
    return bad_input(
        fmt::format("{} bytes are not a safetensors file: the header's length is missing", bytes.size()));
  std::memcpy(&length, bytes.data(), length_bytes);  // little-endian, as the hosts are
  const auto rest = bytes.subspan(length_bytes);
  if (length > max_safetensors_header)
    return limit_error(
        fmt::format("the header's length is {} bytes, the limit is {}: this may not be a safetensors file",
                    length, max_safetensors_header));
  if (length > rest.size())
    return bad_input(
        fmt::format("the header's length is {} bytes, the file has {} left: it is truncated, still being "
                    "written, or not a safetensors file",
                    length, rest.size()));
  const std::string_view text(reinterpret_cast<const char*>(rest.data()), static_cast<std::size_t>(length));
  DRIFTSCOPE_TRY(SafetensorsHeader header, parse_safetensors_header(text));
  // Empty tensors share their offset with the next one: those keep the order of the header.
  std::sort(header.entries.begin(), header.entries.end(), [](const auto& a, const auto& b) {
    return std::tie(a.begin, a.end, a.position) < std::tie(b.begin, b.end, b.position);
  });
  const auto data = rest.subspan(static_cast<std::size_t>(length));
  DRIFTSCOPE_CHECK(check_layout(header.entries, data.size()));
  return SafetensorsLayout{std::move(header), data};
}

Result<Safetensors> read_sections(std::span<const std::byte> bytes) {
  DRIFTSCOPE_TRY(SafetensorsLayout layout, read_layout(bytes));
  Safetensors file{std::move(layout.header.metadata), {}};
  for (const SafetensorsEntry& entry : layout.header.entries) {
    DRIFTSCOPE_TRY(Tensor tensor, tensor_of(entry, layout.data));
    file.tensors.push_back({entry.name, std::move(tensor)});
  }
  return file;
}

Result<std::vector<std::byte>> head(const SafetensorsHeader& header, std::size_t at_least) {
  std::string text = safetensors_header_text(header);
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() + length_bytes < at_least) text.resize(at_least - length_bytes, ' ');
  if (text.size() > max_safetensors_header)
    return limit_error(
        fmt::format("the header would be {} bytes long, the limit of safetensors is "
                    "{}: record fewer runs or fewer tensors",
                    text.size(), max_safetensors_header));
  const std::uint64_t length = text.size();
  std::vector<std::byte> bytes(length_bytes + text.size());
  std::memcpy(bytes.data(), &length, length_bytes);
  std::memcpy(bytes.data() + length_bytes, text.data(), text.size());
  return bytes;
}

Status write(const Safetensors& file, const ByteSink& sink) {
  DRIFTSCOPE_TRY(const SafetensorsHeader header, plan(file));
  DRIFTSCOPE_TRY(const std::vector<std::byte> start, head(header, 0));
  DRIFTSCOPE_CHECK(sink(start));
  for (const NamedTensor& named : file.tensors) DRIFTSCOPE_CHECK(sink(named.tensor.bytes()));
  return {};
}

Result<std::vector<std::byte>> write(const Safetensors& file) {
  std::uint64_t total = 0;
  for (const NamedTensor& named : file.tensors) total += named.tensor.bytes().size();
  if (total > SIZE_MAX / 2) return limit_error(fmt::format("{} bytes are too many for this host", total));
  std::vector<std::byte> out;
  DRIFTSCOPE_CHECK(write(file, [&](std::span<const std::byte> bytes) -> Status {
    if (out.empty()) out.reserve(bytes.size() + static_cast<std::size_t>(total));  // the head
    out.insert(out.end(), bytes.begin(), bytes.end());
    return {};
  }));
  return out;
}

/// With little memory (4 GiB in a browser) a large file must give an error, not a crash.
template <class Function>
auto with_memory(const Function& function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return limit_error("out of memory");
  }
}

}  // namespace

Result<Safetensors> read_safetensors(std::span<const std::byte> bytes) {
  return with_memory([&] { return read_sections(bytes); });
}

Result<SafetensorsLayout> read_safetensors_layout(std::span<const std::byte> bytes) {
  return with_memory([&] { return read_layout(bytes); });
}

Result<Tensor> read_safetensors_tensor(const SafetensorsEntry& entry, std::span<const std::byte> data) {
  return tensor_of(entry, data);
}

Result<std::vector<std::byte>> safetensors_head(const SafetensorsHeader& header, std::size_t at_least) {
  return with_memory([&] { return head(header, at_least); });
}

Result<std::vector<std::byte>> write_safetensors(const Safetensors& file) {
  return with_memory([&] { return write(file); });
}

Status write_safetensors(const Safetensors& file, const ByteSink& sink) {
  return with_memory([&]() -> Status { return write(file, sink); });
}

}  // namespace driftscope
