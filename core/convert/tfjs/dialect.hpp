// What TensorFlow.js can express. Clients: the writer of graph models, tests.
#pragma once

#include "core/convert/tf/tf_graph.hpp"

namespace driftscope::convert::tfjs {

/// Of the version that package.json pins.
[[nodiscard]] const tf::Dialect& dialect();

}  // namespace driftscope::convert::tfjs
