// A training curve: a metric of a run by step or epoch, in one of several repetitions.
// Clients: the readers of formats/, comparisons, tables, pages. It reads no files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace driftscope {

namespace documents {
struct Training;
}

struct Curve {
  std::string run;     ///< who was trained: "lenet5/pytorch", a file's name
  std::string metric;  ///< "loss", "val_accuracy"
  std::int64_t repetition = 0;
  std::vector<double> steps;   ///< ascending, each once, finite
  std::vector<double> values;  ///< as many; what diverged is infinite or NaN
};

/// What a file has.
struct CurveFile {
  std::string format;  ///< "training", "tensorboard", …
  std::vector<Curve> curves;
  std::vector<std::string> notes;                            ///< what was left out, for people
  std::shared_ptr<const documents::Training> training = {};  ///< the whole document, of "training" only
};

inline constexpr std::size_t max_curves = 20'000;
inline constexpr std::size_t max_curve_points = 20'000'000;  ///< of a file

/// Steps in their order; of several values of a step (a run that was continued) the one that comes last.
void order_points(Curve& curve);

/// Which values of a metric are better.
enum class BetterCurve { unknown, lower, higher };
/// By words in its name: loss, error, … and accuracy, auc, …
[[nodiscard]] BetterCurve better_curve_of(std::string_view metric);

/// Curves of one run and metric: its repetitions, in their order.
struct CurveGroup {
  std::string run;
  std::string metric;
  BetterCurve better = BetterCurve::unknown;
  std::vector<const Curve*> repetitions;
};
/// In the order in which metrics, and the runs of each, first appear. The curves must outlive them.
[[nodiscard]] std::vector<CurveGroup> groups_of(const std::vector<Curve>& curves);

/// The part of a run's name before the last '/', "lenet5" of "lenet5/pytorch": what of one model is
/// comparable. May be "".
[[nodiscard]] std::string_view model_of_run(std::string_view run);

/// The mean of the repetitions, and how far they reach, at each step that one of them has.
struct CurveBand {
  std::vector<double> steps, mean, low, high;  ///< NaN where no repetition is finite
};
[[nodiscard]] CurveBand band_of(const CurveGroup& group);

}  // namespace driftscope
