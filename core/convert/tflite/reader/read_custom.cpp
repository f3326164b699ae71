// MediaPipe's custom operators, whose options are the bytes of structs of TensorFlow Lite: integers of
// 32 bits, the lower byte first.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"
#include "core/convert/tflite/reader/reader.hpp"

namespace driftscope::tflite {
namespace {

using List = std::vector<std::int64_t>;

/// The first `count` numbers of the options.
Result<List> numbers_of(const ReadOperator& from, std::size_t count) {
  const auto* bytes = from.options->custom_options();
  const std::size_t size = bytes == nullptr ? 0 : bytes->size();
  if (size < 4 * count)
    return bad_input(fmt::format("its options have {} bytes, expected {} and more", size, 4 * count));
  List numbers;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t bits = 0;
    for (std::size_t k = 4; k-- > 0;)
      bits = bits << 8 | bytes->Get(static_cast<flatbuffers::uoffset_t>(4 * i + k));
    numbers.push_back(static_cast<std::int32_t>(bits));
  }
  return numbers;
}

struct Window {
  std::string padding;
  std::int64_t stride_h = 1;
  std::int64_t stride_w = 1;
};

constexpr std::int64_t same_padding = 1;  // TfLitePadding
constexpr std::int64_t valid_padding = 2;

/// [padding, width of a step, height of a step].
Result<Window> window_of(const List& numbers) {
  if (numbers[0] != same_padding && numbers[0] != valid_padding)
    return bad_input(fmt::format("its padding is {}; expected 1 (SAME) or 2 (VALID)", numbers[0]));
  if (numbers[1] < 1 || numbers[2] < 1)
    return bad_input(fmt::format("steps of {} x {}; expected 1 and more", numbers[2], numbers[1]));
  return Window{numbers[0] == same_padding ? "SAME" : "VALID", numbers[2], numbers[1]};
}

/// [values, filter [out, height, width, in], bias]. Its SAME is not that of TRANSPOSE_CONV: only what the
/// last step of a convolution of the input's own size would leave out is cut off.
Status transposed_with_bias(Reader& reader, ReadOperator& from) {
  DRIFTSCOPE_CHECK(need(from, 3));
  DRIFTSCOPE_TRY(const List numbers, numbers_of(from, 3));
  DRIFTSCOPE_TRY(const Window window, window_of(numbers));
  const Shape filter = reader.info(from.inputs[1]).shape;
  const Shape values = reader.info(from.inputs[0]).shape;
  if (filter.size() != 4 || values.size() != 4)
    return bad_input(fmt::format("a filter {} for values {}; expected four axes each", shape_text(filter),
                                 shape_text(values)));
  List pads = {0, 0, 0, 0};  // top, left, bottom, right
  if (window.padding == "SAME")
    for (std::size_t i = 0; i < 2; ++i) {
      const std::int64_t size = values[i + 1];
      const std::int64_t step = i == 0 ? window.stride_h : window.stride_w;
      if (size < 1)
        return unsupported(
            fmt::format("SAME padding of values {}, whose size must be known", shape_text(values)));
      const std::int64_t cut = std::max<std::int64_t>(0, filter[i + 1] - (size - 1) % step - 1);
      pads[i] = cut / 2;
      pads[i + 2] = cut - cut / 2;
    }
  from.attributes["strides"] = List{1, window.stride_h, window.stride_w, 1};
  from.attributes["pads"] = pads;
  std::vector<std::string> inputs = {from.inputs[0], "", from.inputs[2]};
  DRIFTSCOPE_TRY(inputs[1], reader.ordered(from.inputs[1], {1, 2, 0, 3}));
  return reader.add(from, "ConvTransposeWithPads", std::move(inputs));
}

/// [padding, width of a step, height of a step, width and height of the window]: windows side by side, which
/// all models with these operators have.
Status with_places(Reader& reader, ReadOperator& from, std::string_view op, std::size_t inputs) {
  DRIFTSCOPE_CHECK(need(from, inputs));
  DRIFTSCOPE_TRY(const List numbers, numbers_of(from, 5));
  DRIFTSCOPE_TRY(const Window window, window_of(numbers));
  constexpr std::int64_t largest = 1024;
  if (numbers[3] != window.stride_w || numbers[4] != window.stride_h || numbers[3] > largest ||
      numbers[4] > largest)
    return unsupported(fmt::format("windows of {} x {} with steps of {} x {}; they must lie side by side",
                                   numbers[4], numbers[3], window.stride_h, window.stride_w));
  const Shape values = reader.info(from.inputs[0]).shape;
  if (values.size() != 4) return bad_input(fmt::format("values {}; expected four axes", shape_text(values)));
  from.attributes["ksize"] = List{1, window.stride_h, window.stride_w, 1};
  return reader.add(from, op, from.inputs);
}

Status pool_with_places(Reader& reader, ReadOperator& from) {
  if (from.outputs.size() != 2) return bad_input("it must have two outputs");
  DRIFTSCOPE_CHECK(with_places(reader, from, "MaxPoolWithPlaces", 1));
  const auto& size = std::get<List>(from.attributes.at("ksize"));
  const Shape values = reader.info(from.inputs[0]).shape;
  for (std::size_t axis : {1, 2})
    if (values[axis] < 1 || values[axis] % size[axis] != 0)
      return unsupported(fmt::format("values {} for windows of {} x {}, which must fill them",
                                     shape_text(values), size[1], size[2]));
  return {};
}

}  // namespace

Status read_custom(Reader& reader, ReadOperator& from) {
  if (from.custom == "Convolution2DTransposeBias") return transposed_with_bias(reader, from);
  if (from.custom == "MaxPoolingWithArgmax2D") return pool_with_places(reader, from);
  if (from.custom == "MaxUnpooling2D") return with_places(reader, from, "MaxUnpoolAtPlaces", 2);
  return unsupported(
      "custom operators are not supported, but MediaPipe's Convolution2DTransposeBias, "
      "MaxPoolingWithArgmax2D and MaxUnpooling2D");
}

}  // namespace driftscope::tflite
