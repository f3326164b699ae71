#include "core/convert/format.hpp"
#include "core/convert/tfjs/convert.hpp"

namespace driftscope::convert::tfjs {

void add_to(FormatTable& table) {
  table.add({.name = "TensorFlow.js graph model",
             .option = "tfjs",
             .folder = true,
             .help = "A folder for tf.loadGraphModel: model.json and its weights.",
             .convert = convert,
             .is_named_by_contents = is_named_by_contents});
}

}  // namespace driftscope::convert::tfjs
