// Whether the runs of one recording computed the same bits. Values are compared by their digests, so that
// those of one run alone are kept, and of a run that differs the first value that does.
// Clients: record (compares), verify (decides which run is right), trace_file. It gives no verdicts.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/trace/tensor_digest.hpp"
#include "core/trace/trace.hpp"

namespace driftscope {

/// How a run differs from the first.
struct RunDifference {
  std::int64_t run = 0;  ///< counted from 1
  /// The first value in topological order that differs, and the node that made it; no node: an input, which
  /// the runtime has overwritten.
  std::string value = {};
  std::string node = {};
  std::string op = {};
  std::int64_t values = 0;  ///< how many differ
  bool zero_signs = false;  ///< by nothing but signs of zeros
  std::string reason = {};  ///< why they differ other than in elements: another shape, another dtype, absent
};

/// Runs that agree with each other bit for bit.
struct AgreeingRuns {
  std::int64_t first = 0;  ///< counted from 1
  std::int64_t last = 0;
  std::int64_t runs = 0;
  [[nodiscard]] bool contiguous() const { return last - first + 1 == runs; }
};

struct RepeatCheck {
  std::int64_t runs = 0;
  std::int64_t values = 0;                ///< compared in each run
  std::vector<AgreeingRuns> groups = {};  ///< in the order of their first runs; at most `max_groups`
  std::int64_t more_groups = 0;           ///< beyond those
  /// The first run that differs from run 1, and the last where it is another one.
  std::vector<RunDifference> different = {};

  static constexpr std::size_t max_groups = 16;
  [[nodiscard]] bool agree() const { return different.empty(); }
};

/// Compares runs as they go. The graph must outlive it.
class RunComparer {
 public:
  explicit RunComparer(const Graph& graph);

  void begin_run();
  /// Any order; NaNs are equal to each other, ±0 are distinguished.
  void value(ValueId id, const Tensor& tensor);
  void end_run();

  [[nodiscard]] RepeatCheck result() const;
  /// For each entry of result().different that has elements to compare: the value as that run gave it.
  [[nodiscard]] std::vector<LaterValue> take_values();

 private:
  struct Found {
    RunDifference difference;
    std::size_t rank = 0;  // of the value, in topological order
    std::optional<Tensor> tensor;
  };

  void differs(ValueId id, bool zero_signs, std::string reason, const Tensor* tensor);
  void add_to_groups();

  const Graph& graph_;
  std::vector<std::size_t> rank_;  // by value
  std::vector<bool> constant_;     // by node
  std::vector<std::optional<TensorDigest>> first_;
  std::vector<bool> given_;  // in the run under way
  std::int64_t run_ = 0;
  std::int64_t values_ = 0;
  std::uint64_t run_digest_ = 0;  // of all values of the run under way, in whatever order
  std::vector<std::uint64_t> group_digests_;
  std::vector<AgreeingRuns> groups_;
  std::int64_t more_groups_ = 0;
  std::optional<Found> current_;
  std::optional<Found> first_different_;
  std::optional<Found> last_different_;
};

/// As "repeat_check" of a trace's `run`, and read again; nothing where it is absent or malformed.
[[nodiscard]] nlohmann::ordered_json repeat_check_json(const RepeatCheck& check);
[[nodiscard]] std::optional<RepeatCheck> repeat_check_of(const Trace& about);

/// The name of a later run's value in a trace file: "driftscope.run2/conv1".
[[nodiscard]] std::string later_value_name(std::int64_t run, const std::string& value);

}  // namespace driftscope
