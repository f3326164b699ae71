#include "core/matrix/matrix_cells.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"
#include "core/trace/capture_filter.hpp"

namespace driftscope {
namespace {

constexpr std::size_t most_cells = 1'000'000;

bool fits(const std::vector<std::string>& globs, const std::string& name) {
  return globs.empty() ||
         std::ranges::any_of(globs, [&](const std::string& glob) { return glob_matches(glob, name); });
}

/// A name that fits nothing is a slip of the pen: without this the cell that it means would run.
Status check_globs(const std::vector<std::string>& globs, const std::vector<std::string>& names,
                   const std::string& where) {
  for (std::size_t i = 0; i < globs.size(); ++i)
    if (std::ranges::none_of(names, [&](const std::string& name) { return glob_matches(globs[i], name); }))
      return bad_input(fmt::format("{}[{}]: {} fits none of {}", where, i, in_quotes(globs[i]),
                                   in_quotes(fmt::format("{}", fmt::join(names, ", ")), 400)));
  return {};
}

}  // namespace

Result<std::vector<MatrixPlace>> cells_of(const documents::Matrix& matrix,
                                          const std::vector<std::string>& targets) {
  std::vector<std::string> models, data;
  for (const documents::MatrixModel& model : matrix.models) models.push_back(model.name);
  for (const documents::MatrixData& one : matrix.data) data.push_back(name_of(one));
  for (std::size_t i = 0; i < matrix.data.size(); ++i)
    DRIFTSCOPE_CHECK(check_globs(matrix.data[i].models, models, fmt::format("data[{}].models", i)));
  for (std::size_t i = 0; i < matrix.exclude.size(); ++i) {
    const std::string where = fmt::format("exclude[{}]", i);
    const documents::MatrixChoice& choice = matrix.exclude[i];
    if (choice.models.empty() && choice.data.empty() && choice.targets.empty())
      return bad_input(where + ": expected models, data or targets; it would leave nothing");
    DRIFTSCOPE_CHECK(check_globs(choice.models, models, where + ".models"));
    DRIFTSCOPE_CHECK(check_globs(choice.data, data, where + ".data"));
    DRIFTSCOPE_CHECK(check_globs(choice.targets, targets, where + ".targets"));
  }
  std::vector<MatrixPlace> cells;
  for (std::size_t m = 0; m < models.size(); ++m)
    for (std::size_t d = 0; d < data.size(); ++d) {
      if (!fits(matrix.data[d].models, models[m])) continue;
      for (std::size_t t = 0; t < targets.size(); ++t) {
        const bool excluded = std::ranges::any_of(matrix.exclude, [&](const documents::MatrixChoice& choice) {
          return fits(choice.models, models[m]) && fits(choice.data, data[d]) &&
                 fits(choice.targets, targets[t]);
        });
        if (excluded) continue;
        if (cells.size() == most_cells)
          return limit_error(
              fmt::format("more than {} cells; several matrices may share a store", most_cells));
        cells.push_back({m, d, t});
      }
    }
  if (cells.empty()) return bad_input("exclude: nothing is left of the matrix");
  return cells;
}

}  // namespace driftscope
