// Curves of several files as one set: names that do not clash, where they end, how they differ.
// Clients: the command `curves`, its page, the curves view. It reads no files.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/curves/compare_curves.hpp"
#include "core/curves/curve_charts.hpp"
#include "generated/documents/training.hpp"

namespace driftscope {

struct NamedCurveFile {
  std::string path;  ///< for notes, and for runs that are called alike
  CurveFile file;
};

/// What is larger is not read: curves are held as a whole.
inline constexpr std::uint64_t largest_curve_file = std::uint64_t{512} << 20;

struct CurveSetOptions {
  double apart = 0.01;                    ///< as CurveComparisonOptions::threshold
  std::vector<std::string> metrics = {};  ///< only these; none: all
};

struct CurveSet {
  CurveSet() = default;
  CurveSet(const CurveSet&) = delete;  // the groups point at the curves
  CurveSet& operator=(const CurveSet&) = delete;

  documents::Curves document;  ///< the tables, and notes; its files are the caller's
  double apart = 0.0;          ///< as of the options
  std::vector<Curve> curves;
  std::vector<CurveGroup> groups;
  std::vector<CurveChart> charts;                                     ///< of the groups
  std::vector<std::shared_ptr<const documents::Training>> trainings;  ///< of files that are one
};

/// Runs of two files that are called alike are told apart by the later path: they are no repetitions.
/// Errors: a metric that no file has.
[[nodiscard]] Result<std::shared_ptr<const CurveSet>> make_curve_set(std::vector<NamedCurveFile> files,
                                                                     const CurveSetOptions& options = {});

/// Whether a file of this name is an event file of TensorBoard.
[[nodiscard]] bool is_event_file(std::string_view path);

/// Of an event file, whose own name is a time and a host, the folder: below `given`, if that is above it. Of
/// others the name without its ending. Both with '/', and both absolute or both relative.
[[nodiscard]] std::string curve_run_name(std::string_view path, std::string_view given);

}  // namespace driftscope
