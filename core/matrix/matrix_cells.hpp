// Which cells a matrix has. Clients: the matrix command, tests. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/matrix/matrix_file.hpp"

namespace driftscope {

/// Places in the matrix's models, data and targets.
struct MatrixPlace {
  std::size_t model = 0;
  std::size_t data = 0;
  std::size_t target = 0;
};

/// All but those that are excluded: model by model, and of each the data, and of that the targets. Every
/// model has a name. `targets`: as of targets_of. Errors: names in `data` or `exclude` that fit nothing, more
/// than a million cells, none at all.
[[nodiscard]] Result<std::vector<MatrixPlace>> cells_of(const documents::Matrix& matrix,
                                                        const std::vector<std::string>& targets);

}  // namespace driftscope
