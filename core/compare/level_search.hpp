// Which levels of an option to run so that few runs show where a result changes: binary search between levels
// that differ, with repeats where runs of one level may differ. It runs nothing. Client: the bisect command.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace driftscope {

/// What came of one run of a level.
struct LevelOutcome {
  std::string text;  ///< "right", "fault at conv1", "failed": outcomes with the same text are the same
  int severity = 0;  ///< 0: as it should be
  [[nodiscard]] bool operator==(const LevelOutcome&) const = default;
};

struct LevelTransition {
  std::size_t from = 0;
  std::size_t to = 0;  ///< the next level
};

class LevelSearch {
 public:
  struct Plan {
    bool every = false;  ///< runs every level: those between two of the same outcome may differ
    int repeats = 3;  ///< runs of a level that looks better than its neighbour, or than other runs of its own
  };

  LevelSearch(std::size_t levels, Plan plan) : plan_(plan), tried_(levels) {}

  /// The level to run next; nothing: it is over.
  [[nodiscard]] std::optional<std::size_t> next() const;
  void add(std::size_t level, LevelOutcome outcome);

  /// Where neighbours differ, both of which ran.
  [[nodiscard]] std::vector<LevelTransition> transitions() const;
  /// The worst of a level's runs: a fault that comes sometimes is one. Null: it did not run.
  [[nodiscard]] const LevelOutcome* outcome(std::size_t level) const;
  [[nodiscard]] int runs(std::size_t level) const { return static_cast<int>(tried_[level].size()); }
  /// How many of its runs had the outcome that counts.
  [[nodiscard]] int runs_like_it(std::size_t level) const;
  /// Whether runs of one level had several outcomes.
  [[nodiscard]] bool flaky() const;

 private:
  [[nodiscard]] std::optional<std::size_t> middle_of_a_gap() const;
  [[nodiscard]] std::optional<std::size_t> one_to_repeat() const;

  Plan plan_;
  std::vector<std::vector<LevelOutcome>> tried_;
};

}  // namespace driftscope
