#include "core/convert/format.hpp"
#include "core/convert/tflite/to_tflite.hpp"

namespace driftscope::convert::tflite {

void add_to(FormatTable& table) {
  table.add({.name = "TensorFlow Lite model",
             .option = "tflite",
             .folder = false,
             .help = "A file for LiteRT and TensorFlow Lite: float32, or int8 where the model is quantized.",
             .convert = driftscope::tflite::to_tflite});
}

}  // namespace driftscope::convert::tflite
