// A baseline: the results of a model on its targets, small enough to be committed. Later comparisons are
// judged against it. Its keys: core/protocol/documents/baseline.json. Clients: checks, the baseline command.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/results/comparison_view.hpp"

namespace driftscope {

/// A layer that was unjudged, suspect or a fault when the baseline was saved.
struct KnownLayer {
  std::string node;
  std::string output;
  Verdict verdict = Verdict::suspect;
};

struct BaselineTarget {
  std::string target;
  std::string ran;  ///< browser and version, instruction set, threads, as run_text writes them
  std::vector<KnownLayer> known;
  std::vector<std::int64_t> top1;  ///< best class of each output row; empty: no classes, or thousands of rows
  std::string outputs_sha256;      ///< of the output's bytes
  std::vector<double> medians_ns;  ///< one per fresh start; empty: not measured
};

struct BaselineMachine {
  std::string cpu;
  int cores = 0;
  [[nodiscard]] bool operator==(const BaselineMachine&) const = default;
};

/// How times were measured; no starts: not at all.
struct BaselineMeasured {
  int starts = 0;
  double seconds = 0.0;  ///< per start and target
};

struct Baseline {
  std::string model;  ///< file name
  std::string model_sha256;
  std::vector<std::string> inputs;  ///< as given to --input; empty: seed:42
  std::string build;
  BaselineMachine machine;
  BaselineMeasured measured;
  std::vector<BaselineTarget> targets;

  [[nodiscard]] const BaselineTarget* find(const std::string& target) const;
};

/// A baseline and the measurements to check against it.
struct BaselineCheck {
  Baseline baseline;
  BaselineMachine machine;                             ///< of this run
  std::map<std::string, std::vector<double>> medians;  ///< by target; measured like the baseline
};

/// From all targets that ran; the caller that measures times adds them.
[[nodiscard]] Baseline baseline_of(const ComparisonView& view);

/// SHA-256 of the model's output; empty when it was not recorded.
[[nodiscard]] std::string answer_sha256(const Trace& trace);

[[nodiscard]] std::string baseline_json(const Baseline& baseline);

/// Errors say which field is wrong; a newer format is distinguished from a damaged file.
[[nodiscard]] Result<Baseline> read_baseline(std::span<const std::byte> bytes);

}  // namespace driftscope
