// How long samples and measurements of a study took, and how many fit into a cell by that. Clients: those
// that run the cells of a study, here or on a cluster.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "core/study/study_schedule.hpp"

namespace driftscope {

[[nodiscard]] bool is_attack(const StudyCell& cell);

/// The name of the cell in a store; the subject is the cell's.
[[nodiscard]] std::string cell_item(const documents::Study& study, const StudySubject& subject,
                                    const StudyCell& cell);

class StudyPaces {
 public:
  /// Of a cell that has run, whether it failed or not.
  void add(const StudyCell& cell, double seconds);

  /// As many of its samples as a cell is to have by the last one of its series; 1 where it has none.
  [[nodiscard]] std::int64_t samples_at_a_time(const StudyCell& cell) const;

  /// So many units of a series, by its own pace, else by the mean over series of the same task, of the same
  /// target where there are any; nothing: nothing of the kind has run.
  [[nodiscard]] std::optional<double> seconds_of(const StudyCell& series, std::int64_t count) const;

 private:
  struct Pace {
    std::int64_t count = 0;
    double seconds = 0.0;
  };
  using Key = std::tuple<StudyTask, std::size_t, std::size_t, std::size_t>;
  static Key key_of(const StudyCell& cell) { return {cell.task, cell.target, cell.subject, cell.of}; }
  [[nodiscard]] std::optional<double> mean_seconds(const StudyCell& series) const;

  std::map<Key, Pace> paces_;
};

}  // namespace driftscope
