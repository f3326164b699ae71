// Compiled for size on the web (cmake/core.cmake).
#include "core/dataset/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/base/text.hpp"
#include "core/dataset/npy_header.hpp"

namespace driftscope {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

struct Row {
  std::string_view code;  // without the byte order
  DType dtype;
};
constexpr std::array<Row, 14> known_types = {{
    {"f4", DType::float32},
    {"f8", DType::float64},
    {"f2", DType::float16},
    {"i1", DType::int8},
    {"i2", DType::int16},
    {"i4", DType::int32},
    {"i8", DType::int64},
    {"u1", DType::uint8},
    {"u2", DType::uint16},
    {"u4", DType::uint32},
    {"u8", DType::uint64},
    {"b1", DType::boolean},
    {"c8", DType::complex64},
    {"c16", DType::complex128},
}};

/// The element type, and whether its bytes are in the other order ('<' little, '>' big, '|' neither,
/// '=' the writer's own, taken as little-endian like all hosts here).
struct Element {
  DType dtype = DType::undefined;
  bool swapped = false;
};

Result<Element> element_of(const std::string& descr) {
  const std::string_view code = std::string_view(descr).substr(descr.empty() ? 0 : 1);
  if (!descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos)
    for (const Row& row : known_types)
      if (row.code == code) return Element{row.dtype, descr[0] == '>'};
  return unsupported(
      fmt::format("element type {} is not supported; convert it with "
                  "array.astype(numpy.float32)",
                  in_quotes(descr)));
}

void swap_bytes(Tensor& tensor) {
  const bool complex = tensor.dtype() == DType::complex64 || tensor.dtype() == DType::complex128;
  const std::size_t size = static_cast<std::size_t>(bits_per_element(tensor.dtype())) / 8 / (complex ? 2 : 1);
  const auto bytes = tensor.mutable_bytes();
  for (std::size_t i = 0; i < bytes.size(); i += size) std::ranges::reverse(bytes.subspan(i, size));
}

/// Column-major data (the first index runs fastest) → row-major.
Result<Tensor> row_major(const Tensor& columns) {
  DRIFTSCOPE_TRY(Tensor rows_first, Tensor::make(columns.dtype(), columns.shape(), "npy file"));
  const Shape& shape = columns.shape();
  const std::size_t size = static_cast<std::size_t>(bits_per_element(columns.dtype())) / 8;
  const std::byte* from = columns.bytes().data();
  std::byte* to = rows_first.mutable_bytes().data();
  Shape index(shape.size(), 0);
  for (std::int64_t n = 0; n < columns.elements(); ++n, from += size) {
    std::int64_t place = 0;
    for (std::size_t k = 0; k < shape.size(); ++k) place = place * shape[k] + index[k];
    std::memcpy(to + static_cast<std::size_t>(place) * size, from, size);
    for (std::size_t k = 0; k < shape.size() && ++index[k] == shape[k]; ++k) index[k] = 0;
  }
  return rows_first;
}

Status check_booleans(const Tensor& tensor) {
  if (tensor.dtype() != DType::boolean) return {};
  for (const std::byte byte : tensor.bytes())
    if (byte > std::byte{1})
      return bad_input(fmt::format("a bool element is {}, expected 0 or 1", std::to_integer<int>(byte)));
  return {};
}

Result<Tensor> read(std::span<const std::byte> bytes) {
  const std::string_view file(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!file.starts_with(magic)) return bad_input("it does not start with \\x93NUMPY");
  if (file.size() < 10) return bad_input("it ends within its header");
  const int version = static_cast<unsigned char>(file[6]);
  if (version < 1 || version > 3)
    return unsupported(fmt::format("version {} is not supported, expected 1 to 3", version));
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t start = 8 + length_bytes;
  if (file.size() < start) return bad_input("it ends within its header");
  std::uint32_t length = 0;
  std::memcpy(&length, file.data() + 8, length_bytes);
  if (length > file.size() - start)
    return bad_input(fmt::format("its header has {} bytes, the file {} more; it is truncated", length,
                                 file.size() - start));
  DRIFTSCOPE_TRY(const NpyHeader header, parse_npy_header(file.substr(start, length)));
  DRIFTSCOPE_TRY(const Element element, element_of(header.descr));
  DRIFTSCOPE_TRY(Tensor tensor,
                 Tensor::from_bytes(element.dtype, header.shape, bytes.subspan(start + length), "data"));
  DRIFTSCOPE_CHECK(check_booleans(tensor));
  if (element.swapped) swap_bytes(tensor);
  if (header.fortran_order && tensor.rank() > 1) return row_major(tensor);
  return tensor;
}

}  // namespace

Result<Tensor> read_npy(std::span<const std::byte> bytes) {
  auto tensor = read(bytes);
  if (!tensor.ok()) return in_context(std::move(tensor).error(), "npy file");
  return tensor;
}

Result<std::vector<std::byte>> write_npy(const Tensor& tensor) {
  const auto* row = std::ranges::find(known_types, tensor.dtype(), &Row::dtype);
  if (row == known_types.end())
    return unsupported(fmt::format("npy file: NumPy has no type for {}", dtype_name(tensor.dtype())));
  const bool one_byte = bits_per_element(tensor.dtype()) == 8;
  std::string header =
      fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}", one_byte ? '|' : '<',
                  row->code, fmt::join(tensor.shape(), ", "), tensor.rank() == 1 ? "," : "");
  // Magic, version, length, header and its line end fill a multiple of 64 bytes.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string file(magic);
  file += {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  file += header;
  std::vector<std::byte> out(file.size() + tensor.bytes().size());
  std::memcpy(out.data(), file.data(), file.size());
  std::ranges::copy(tensor.bytes(), out.begin() + static_cast<std::ptrdiff_t>(file.size()));
  return out;
}

}  // namespace driftscope
