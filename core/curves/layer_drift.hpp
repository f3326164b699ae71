// How far the layers of two frameworks' networks are apart, epoch by epoch, of a training of our own.
// Clients: the page of curves, the curves view.
#pragma once

#include <string>
#include <vector>

#include "core/draw/drift_map.hpp"
#include "generated/documents/training.hpp"

namespace driftscope {

struct LayerDrift {
  std::string title;  ///< "lenet5: jax and pytorch"
  std::string about;  ///< which layer parts first
  DriftMap map;       ///< layers down, epochs across; of several repetitions the largest distance
};

/// For each model and each two of its frameworks; without those that have no layers or no epochs.
[[nodiscard]] std::vector<LayerDrift> layer_drifts(const documents::Training& training);

}  // namespace driftscope
