// Which cases of a hunt are judged together where several places judge at the same time. Client:
// native/host/hunt_jobs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace driftscope::hunt {

/// Cases `first` to `first` + `count` − 1 on one target.
struct Block {
  std::size_t target = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

class Blocks {
 public:
  /// `cases`: nothing is without end. `known`: has a result already.
  Blocks(std::size_t targets, std::optional<std::int64_t> cases,
         std::function<bool(std::size_t target, std::int64_t number)> known);

  /// The next cases without a result, of the target that has had the fewest; nothing: there are none.
  [[nodiscard]] std::optional<Block> next();
  /// It took so long: later ones of its target are longer or shorter by that.
  void took(const Block& block, double seconds);
  /// Nothing more of this target.
  void give_up(std::size_t target) { ends_[target] = next_[target]; }

 private:
  std::function<bool(std::size_t, std::int64_t)> known_;
  std::vector<std::int64_t> next_;                 ///< by target
  std::vector<std::optional<std::int64_t>> ends_;  ///< by target
  std::vector<std::int64_t> counts_;               ///< by target: cases at a time
};

}  // namespace driftscope::hunt
