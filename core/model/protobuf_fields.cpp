#include "core/model/protobuf_fields.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <protozero/varint.hpp>

#include "core/base/text.hpp"

namespace driftscope {
namespace {

using protozero::pbf_wire_type;

// Tensors and fixed-width numbers are copied as they are in the file, which is little-endian.
static_assert(std::endian::native == std::endian::little);

struct WrongWireType : protozero::exception {
  [[nodiscard]] const char* what() const noexcept override {
    return "a protobuf field is not of the type that ONNX gives it";
  }
};

}  // namespace

Field::Field(protozero::pbf_reader& reader) : reader_(reader), tag_(reader.tag()) {
  if (reader_.wire_type() != pbf_wire_type::length_delimited) return;
  const protozero::data_view rest = reader_.data();
  const char* data = rest.data();
  const char* const end = data + rest.size();
  const std::uint64_t length = protozero::decode_varint(&data, end);
  if (length > static_cast<std::uint64_t>(end - data)) throw protozero::end_of_buffer_exception{};
}

void Field::expect(pbf_wire_type type) {
  if (reader_.wire_type() != type) throw WrongWireType{};
  read_ = true;
}

std::int64_t Field::integer() {
  expect(pbf_wire_type::varint);
  return reader_.get_int64();
}

float Field::real() {
  expect(pbf_wire_type::fixed32);
  return reader_.get_float();
}

std::string_view Field::bytes() {
  expect(pbf_wire_type::length_delimited);
  const protozero::data_view view = reader_.get_view();
  return {view.data(), view.size()};
}

Result<std::string> Field::name() {
  const std::string_view view = bytes();
  if (!printable(view))
    return bad_input(
        fmt::format("the name {} is not UTF-8, or holds control characters", in_quotes(view, 40)));
  return std::string(view);
}

void Field::append(std::vector<std::int64_t>& values) {
  if (reader_.wire_type() == pbf_wire_type::varint) {
    values.push_back(integer());
    return;
  }
  const std::string_view view = bytes();
  const char* data = view.data();
  const char* const end = data + view.size();
  while (data != end) values.push_back(static_cast<std::int64_t>(protozero::decode_varint(&data, end)));
}

template <class T>
void Field::append_fixed(std::vector<T>& values, pbf_wire_type single) {
  if (reader_.wire_type() == single) {
    read_ = true;
    if constexpr (sizeof(T) == sizeof(float))
      values.push_back(reader_.get_float());
    else
      values.push_back(reader_.get_double());
    return;
  }
  const std::string_view view = bytes();
  if (view.size() % sizeof(T) != 0) throw protozero::invalid_length_exception{};
  if (view.empty()) return;
  const std::size_t old = values.size();
  values.resize(old + view.size() / sizeof(T));
  std::memcpy(values.data() + old, view.data(), view.size());
}

void Field::append(std::vector<float>& values) { append_fixed(values, pbf_wire_type::fixed32); }
void Field::append(std::vector<double>& values) { append_fixed(values, pbf_wire_type::fixed64); }

void Field::skip_if_unread() {
  if (!read_) reader_.skip();
}

Error protobuf_error(const protozero::exception& exception) {
  if (dynamic_cast<const protozero::end_of_buffer_exception*>(&exception) != nullptr)
    return bad_input("truncated protobuf message: the file is truncated or damaged");
  if (dynamic_cast<const WrongWireType*>(&exception) != nullptr)
    return bad_input(std::string(exception.what()) + ": the file is damaged or not an ONNX model");
  return bad_input(fmt::format("damaged protobuf message ({})", exception.what()));
}

Status read_name(Field& field, std::string& target) {
  DRIFTSCOPE_TRY(target, field.name());
  return {};
}

}  // namespace driftscope
