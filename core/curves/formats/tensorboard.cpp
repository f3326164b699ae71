// TensorBoard's event files: TFRecords (length, masked CRC-32C, data, masked CRC-32C) of protobuf messages
// Event with a Summary of scalars, as simple_value (PyTorch, TensorFlow 1) or as a tensor of one element
// (TensorFlow 2, Keras). Sources: tensorflow/core/lib/io/record_writer.h, tensorflow/core/util/event.proto,
// framework/summary.proto, framework/tensor.proto. Histograms, pictures and graphs are passed over and
// counted.
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>

#include "core/base/half.hpp"
#include "core/base/text.hpp"
#include "core/curves/crc32c.hpp"
#include "core/curves/curve_format.hpp"
#include "core/model/protobuf_fields.hpp"

namespace driftscope::curve_formats::tensorboard {
namespace {

constexpr std::size_t header_bytes = 12;  // length and its checksum
constexpr std::size_t footer_bytes = 4;

template <class T>
T little_endian(std::span<const std::byte> bytes) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(static_cast<T>(bytes[i]) << (8 * i));
  return value;
}

bool fits(const CurveSource& source) {
  if (source.bytes.size() < header_bytes) return false;
  return little_endian<std::uint32_t>(source.bytes.subspan(8, 4)) == masked_crc32c(source.bytes.first(8));
}

template <class T>
std::optional<double> of_bytes(std::string_view bytes) {
  if (bytes.size() != sizeof(T)) return {};
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));  // stored little-endian, as every host here is
  return static_cast<double>(value);
}

/// The element of a TensorProto that has exactly one, of a numeric type; otherwise nothing.
Result<std::optional<double>> tensor_scalar(std::string_view message) {
  enum Type : std::int64_t { float32 = 1, float64 = 2, int32 = 3, int64 = 9, float16 = 19 };
  std::int64_t type = 0;
  std::string_view content;
  std::vector<double> doubles;
  std::vector<float> floats;
  std::vector<std::int64_t> whole, halves;
  DRIFTSCOPE_CHECK(read_fields(message, [&](Field& field) -> Status {
    switch (field.tag()) {
      case 1: type = field.integer(); break;
      case 4: content = field.bytes(); break;
      case 5: field.append(floats); break;
      case 6: field.append(doubles); break;
      case 7:
      case 10: field.append(whole); break;
      case 13: field.append(halves); break;
      default: break;
    }
    return {};
  }));
  switch (type) {
    case float32: return floats.size() == 1 ? static_cast<double>(floats[0]) : of_bytes<float>(content);
    case float64: return doubles.size() == 1 ? std::optional(doubles[0]) : of_bytes<double>(content);
    case int32: return whole.size() == 1 ? static_cast<double>(whole[0]) : of_bytes<std::int32_t>(content);
    case int64: return whole.size() == 1 ? static_cast<double>(whole[0]) : of_bytes<std::int64_t>(content);
    default: break;
  }
  return std::optional<double>();
}

/// What an Event says.
struct Scalars {
  std::int64_t step = 0;
  std::vector<std::pair<std::string, double>> values;
  std::size_t others = 0;
};

Result<Scalars> read_event(std::string_view message) {
  Scalars scalars;
  const auto read_value = [&](std::string_view bytes) -> Status {
    std::string tag;
    std::optional<double> value;
    DRIFTSCOPE_CHECK(read_fields(bytes, [&](Field& field) -> Status {
      switch (field.tag()) {
        case 1: {
          DRIFTSCOPE_TRY(tag, field.name());
          break;
        }
        case 2: value = static_cast<double>(field.real()); break;
        case 8: {
          DRIFTSCOPE_TRY(const auto scalar, tensor_scalar(field.bytes()));
          if (scalar) value = scalar;
          break;
        }
        default: break;
      }
      return {};
    }));
    if (value && !tag.empty())
      scalars.values.emplace_back(std::move(tag), *value);
    else
      ++scalars.others;
    return {};
  };
  DRIFTSCOPE_CHECK(read_fields(message, [&](Field& field) -> Status {
    switch (field.tag()) {
      case 2: scalars.step = field.integer(); break;
      case 5:
        return read_fields(field.bytes(), [&](Field& part) -> Status {
          return part.tag() == 1 ? read_value(part.bytes()) : Status();
        });
      default: break;
    }
    return {};
  }));
  return scalars;
}

Result<CurveFile> read(const CurveSource& source) {
  CurveFile file;
  std::map<std::string, std::size_t> place;
  std::size_t points = 0;
  std::size_t others = 0;
  std::size_t at = 0;
  for (std::size_t record = 1; at < source.bytes.size(); ++record) {
    const auto rest = source.bytes.subspan(at);
    const auto here = [&](std::string_view what) {
      return fmt::format("record {} at offset {}: {}", record, at, what);
    };
    const auto cut = [&] {
      file.notes.push_back(
          here("the file ends inside it, as that of a run that was stopped; the records before "
               "it were read"));
    };
    if (rest.size() < header_bytes) {
      cut();
      break;
    }
    const std::uint64_t length = little_endian<std::uint64_t>(rest);
    const std::uint32_t length_crc = little_endian<std::uint32_t>(rest.subspan(8));
    if (length_crc != masked_crc32c(rest.first(8)))
      return bad_input(
          here(fmt::format("its length {} has the checksum {:08x}, expected {:08x}: the file is "
                           "damaged, or not one of events",
                           length, length_crc, masked_crc32c(rest.first(8)))));
    if (length > rest.size() - header_bytes || rest.size() - header_bytes - length < footer_bytes) {
      cut();
      break;
    }
    const auto data = rest.subspan(header_bytes, static_cast<std::size_t>(length));
    const std::uint32_t crc = little_endian<std::uint32_t>(rest.subspan(header_bytes + data.size()));
    if (crc != masked_crc32c(data))
      return bad_input(
          here(fmt::format("its {} bytes have the checksum {:08x}, expected {:08x}: the file is "
                           "damaged",
                           length, crc, masked_crc32c(data))));
    auto event = read_event({reinterpret_cast<const char*>(data.data()), data.size()});
    if (!event.ok()) return in_context(std::move(event).error(), here("its event"));
    others += event->others;
    for (auto& [tag, value] : event->values) {
      const auto [found, is_new] = place.try_emplace(tag, file.curves.size());
      if (is_new) file.curves.push_back({source.run, tag, 0, {}, {}});
      Curve& curve = file.curves[found->second];
      curve.steps.push_back(static_cast<double>(event->step));
      curve.values.push_back(value);
      if (file.curves.size() > max_curves || ++points > max_curve_points)
        return limit_error(here(
            fmt::format("more than {} curves or {} points; split the file", max_curves, max_curve_points)));
    }
    at += header_bytes + data.size() + footer_bytes;
  }
  if (others > 0)
    file.notes.push_back(
        fmt::format("{} summaries that are no scalars (histograms, pictures, graphs) were "
                    "passed over",
                    others));
  return file;
}

}  // namespace

void add_to(CurveFormatTable& table) {
  table.add(
      {.order = 10, .name = "tensorboard", .what = "a TensorBoard event file", .fits = fits, .read = read});
}

}  // namespace driftscope::curve_formats::tensorboard
