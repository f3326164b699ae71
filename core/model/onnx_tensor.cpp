#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <map>
#include <optional>

#include "core/base/text.hpp"
#include "core/model/element.hpp"
#include "core/model/external_data.hpp"
#include "core/model/model_outline.hpp"
#include "core/model/onnx_parts.hpp"
#include "core/model/protobuf_fields.hpp"

namespace driftscope {
namespace {

/// A TensorProto as it is in the file; its data still lies in the message or elsewhere.
struct TensorParts {
  std::string name;
  Shape dims;
  std::int64_t data_type = 0;
  std::optional<std::string_view> raw;
  std::vector<float> float_data;
  std::vector<std::int64_t> int32_data;
  std::vector<std::int64_t> int64_data;
  std::vector<double> double_data;
  std::vector<std::int64_t> uint64_data;  // the bits
  bool segmented = false;
  bool external = false;
  std::map<std::string, std::string> external_data;
};

Status read_external_entry(std::string_view message, TensorParts& parts) {
  std::string key;
  std::string value;
  DRIFTSCOPE_CHECK(read_fields(message, [&](Field& field) -> Status {
    if (field.tag() == 1) return read_name(field, key);
    if (field.tag() == 2) return read_name(field, value);
    return {};
  }));
  if (!parts.external_data.emplace(key, std::move(value)).second)
    return bad_input(fmt::format("external_data has {} twice", in_quotes(key)));
  return {};
}

Status read_part(Field& field, TensorParts& parts) {
  switch (field.tag()) {
    case 1: field.append(parts.dims); return {};
    case 2: parts.data_type = field.integer(); return {};
    case 3: parts.segmented = true; return {};
    case 4: field.append(parts.float_data); return {};
    case 5: field.append(parts.int32_data); return {};
    case 7: field.append(parts.int64_data); return {};
    case 8: return read_name(field, parts.name);
    case 9: parts.raw = field.bytes(); return {};
    case 10: field.append(parts.double_data); return {};
    case 11: field.append(parts.uint64_data); return {};
    case 13: return read_external_entry(field.bytes(), parts);
    case 14: parts.external = field.integer() == 1; return {};
    default: return {};
  }
}

Status check_count(std::size_t got, std::int64_t expected, std::string_view field) {
  if (got == static_cast<std::uint64_t>(expected)) return {};
  return bad_input(fmt::format("{} has {} numbers, the shape needs {}", field, got, expected));
}

/// The typed field that ONNX gives the data type (TensorProto, comments of float_data … uint64_data): calls
/// body(field, its name).
template <class E, class Body>
Status with_typed_field(const TensorParts& parts, const Body& body) {
  constexpr int part_bits = E::kind == ElementKind::complex ? E::bits / 2 : E::bits;
  constexpr bool real = E::kind == ElementKind::floating || E::kind == ElementKind::complex;
  if constexpr (real && part_bits == 64)
    return body(parts.double_data, "double_data");
  else if constexpr (real && part_bits == 32)
    return body(parts.float_data, "float_data");
  else if constexpr (E::dtype == DType::int64)
    return body(parts.int64_data, "int64_data");
  else if constexpr (E::dtype == DType::uint64 || E::dtype == DType::uint32)
    return body(parts.uint64_data, "uint64_data");
  else
    return body(parts.int32_data, "int32_data");
}

/// Integers that the file stores wider than the tensor does; each must fit between low and high.
Status store_integers(const std::vector<std::int64_t>& values, std::int64_t low, std::int64_t high,
                      Tensor& tensor) {
  if (values.empty()) return {};
  const std::size_t size = tensor.bytes().size() / values.size();
  std::byte* out = tensor.mutable_bytes().data();
  for (std::size_t i = 0; i < values.size(); ++i, out += size) {
    if (values[i] < low || values[i] > high)
      return bad_input(
          fmt::format("element {} is {}, which does not fit {}", i, values[i], dtype_name(tensor.dtype())));
    std::memcpy(out, &values[i], size);
  }
  return {};
}

template <class E>
Status store_integers_of(const std::vector<std::int64_t>& values, Tensor& tensor) {
  using Limits = std::numeric_limits<std::int64_t>;
  if constexpr (E::packed)  // several elements per number; writers differ in the sign of the byte
    return store_integers(values, -128, 255, tensor);
  else if constexpr (E::kind == ElementKind::boolean)
    return store_integers(values, 0, 1, tensor);
  else if constexpr (E::bits == 64)  // every bit pattern is valid
    return store_integers(values, Limits::min(), Limits::max(), tensor);
  else  // of 16-bit floats the bits
    return store_integers(values, std::numeric_limits<typename E::Stored>::min(),
                          std::numeric_limits<typename E::Stored>::max(), tensor);
}

Status store_typed(const TensorParts& parts, Tensor& tensor) {
  Status status = internal_error("a tensor of this type cannot exist");
  visit_element(tensor.dtype(), [&]<class E>() {
    if constexpr (E::bits > 0)
      status = with_typed_field<E>(parts, [&]<class T>(const std::vector<T>& values, const char*) -> Status {
        if constexpr (std::is_same_v<T, std::int64_t>)
          return store_integers_of<E>(values, tensor);
        else if (!values.empty())
          std::memcpy(tensor.mutable_bytes().data(), values.data(), values.size() * sizeof(T));
        return {};
      });
  });
  return status;
}

/// Checked before the tensor is allocated, so that a large shape alone costs no memory.
Status check_typed_count(const TensorParts& parts, DType dtype, std::int64_t elements) {
  Status status;
  visit_element(dtype, [&]<class E>() {
    [[maybe_unused]] constexpr std::int64_t per_byte = E::packed && E::bits > 0 ? 8 / E::bits : 1;
    const std::int64_t numbers = E::kind == ElementKind::complex ? 2 * elements
                                 : E::packed ? elements / per_byte + (elements % per_byte != 0 ? 1 : 0)
                                             : elements;
    status = with_typed_field<E>(
        parts, [&](const auto& field, const char* name) { return check_count(field.size(), numbers, name); });
  });
  return status;
}

/// Directly into the tensor, now or on first use. A small one is not worth waiting for.
Result<Tensor> tensor_from(ByteSource source, const TensorParts& parts, DType dtype, bool defer,
                           std::string_view what) {
  if (defer && source.size >= min_outlined_bytes)
    return Tensor::deferred(dtype, parts.dims, std::move(source), what);
  DRIFTSCOPE_TRY(Tensor tensor, Tensor::unwritten(dtype, parts.dims, what));
  if (tensor.byte_size() > 0) source.read(0, tensor.mutable_bytes());
  return tensor;
}

/// Data of another file, or what the outline left in the model's.
Result<Tensor> external_tensor(const TensorParts& parts, DType dtype, std::int64_t bytes,
                               const ReadContext& context) {
  DRIFTSCOPE_TRY(const ExternalPlace place, external_place(parts.external_data, bytes));
  if (context.model == nullptr || place.location != own_bytes_location) {
    DRIFTSCOPE_TRY(ByteSource source, find_external(place, bytes, context.external_data));
    return tensor_from(std::move(source), parts, dtype, context.defer, "external data");
  }
  if (place.length != bytes)
    return bad_input(fmt::format("raw_data: {} of shape {} needs {} bytes, got {}", dtype_name(dtype),
                                 shape_text(parts.dims), bytes, place.length));
  const auto offset = static_cast<std::uint64_t>(place.offset);
  if (!context.model->holds(offset, static_cast<std::uint64_t>(bytes)))
    return bad_input(fmt::format("raw_data: {} bytes at {} are needed, the model has {}", bytes, offset,
                                 context.model->size));
  return tensor_from(context.model->part(offset, static_cast<std::uint64_t>(bytes)), parts, dtype,
                     context.defer, "raw_data");
}

Result<Tensor> tensor_of(const TensorParts& parts, const ReadContext& context) {
  if (parts.segmented) return unsupported("tensors in segments are not supported");
  const auto dtype = dtype_from_onnx(parts.data_type);
  if (!dtype || bits_per_element(*dtype) == 0)
    return unsupported(fmt::format(
        "elements of type {} are not supported here",
        dtype ? std::string(dtype_name(*dtype)) : fmt::format("number {} of ONNX", parts.data_type)));
  DRIFTSCOPE_TRY(const std::int64_t bytes, tensor_byte_size(*dtype, parts.dims, "data"));
  if (parts.external) return external_tensor(parts, *dtype, bytes, context);
  if (parts.raw)
    return Tensor::from_bytes(*dtype, parts.dims, std::as_bytes(std::span(*parts.raw)), "raw_data");
  DRIFTSCOPE_CHECK(check_typed_count(parts, *dtype, element_count(parts.dims)));
  DRIFTSCOPE_TRY(Tensor tensor, Tensor::make(*dtype, parts.dims, "data"));
  DRIFTSCOPE_CHECK(store_typed(parts, tensor));
  return tensor;
}

/// Any other byte than 0 and 1 as a bool is undefined behaviour in C++.
Status check_booleans(const Tensor& tensor) {
  if (tensor.dtype() != DType::boolean) return {};
  for (const std::byte byte : tensor.bytes())
    if (byte > std::byte{1})
      return bad_input(fmt::format("a bool element is {}, expected 0 or 1", std::to_integer<int>(byte)));
  return {};
}

}  // namespace

Status read_tensor(std::string_view message, const ReadContext& context, NamedTensor& out) {
  TensorParts parts;
  Status fields = read_fields(message, [&](Field& field) { return read_part(field, parts); });
  out.name = parts.name;
  if (!fields.ok()) return fields;
  DRIFTSCOPE_TRY(out.tensor, tensor_of(parts, context));
  return check_booleans(out.tensor);
}

Result<NamedTensor> read_tensor_proto(std::span<const std::byte> bytes) {
  if (bytes.size() > max_protobuf_bytes) return protobuf_too_large("tensor");
  const std::string_view message(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const ExternalData none = no_external_data();
  NamedTensor named;
  if (Status status = read_tensor(message, {none}, named); !status.ok())
    return in_context(std::move(status).error(),
                      named.name.empty() ? "tensor" : "tensor " + in_quotes(named.name));
  return named;
}

}  // namespace driftscope
