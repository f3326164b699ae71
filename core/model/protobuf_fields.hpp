// The fields of one protobuf message, on protozero, for hostile bytes: every length is checked against
// what is left, wire types are checked, and exceptions end here as errors.
// Client: the ONNX reader's files; not a public header of model/.
//
// protozero alone is not enough: it takes lengths modulo 2³², compares them as signed (so a length
// of 2³¹ passes on 32-bit targets), and only asserts the wire type.
#pragma once

#include <cstdint>
#include <new>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace driftscope {

/// The current field. Reading it with another wire type than the file's throws protozero::exception,
/// which read_fields turns into an error; nothing else may be called twice.
class Field {
 public:
  explicit Field(protozero::pbf_reader& reader);

  [[nodiscard]] std::uint32_t tag() const { return tag_; }
  [[nodiscard]] std::int64_t integer();
  [[nodiscard]] float real();
  [[nodiscard]] std::string_view bytes();

  /// A name: it will be shown to people, so bytes that are not UTF-8 and control characters are errors.
  [[nodiscard]] Result<std::string> name();

  // Repeated numbers, packed or one by one.
  void append(std::vector<std::int64_t>& values);
  void append(std::vector<float>& values);
  void append(std::vector<double>& values);

  /// Passes over the field unless it has been read.
  void skip_if_unread();

 private:
  void expect(protozero::pbf_wire_type type);
  template <class T>
  void append_fixed(std::vector<T>& values, protozero::pbf_wire_type single);

  protozero::pbf_reader& reader_;
  std::uint32_t tag_;
  bool read_ = false;
};

/// "truncated protobuf message" and the like.
[[nodiscard]] Error protobuf_error(const protozero::exception& exception);

/// Calls on_field(Field&) → Status for every field; fields that it leaves unread are skipped.
template <class OnField>
[[nodiscard]] Status read_fields(std::string_view message, OnField&& on_field) {
  try {
    protozero::pbf_reader reader(message.data(), message.size());
    while (reader.next()) {
      Field field(reader);
      DRIFTSCOPE_CHECK(on_field(field));
      field.skip_if_unread();
    }
    return {};
  } catch (const protozero::exception& exception) {
    return protobuf_error(exception);
  } catch (const std::bad_alloc&) {
    return limit_error("out of memory");
  }
}

/// Reads a field with a name into `target`.
[[nodiscard]] Status read_name(Field& field, std::string& target);

}  // namespace driftscope
