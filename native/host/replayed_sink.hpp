// The receiver of a run's values when the run is begun a second time: what it has got already is not passed
// on again, and has to be the same, bit by bit. Client: the host webdriver.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/trace/record.hpp"

namespace driftscope {

class ReplayedSink {
 public:
  explicit ReplayedSink(TensorSink inner) : inner_(std::move(inner)) {}
  ReplayedSink(const ReplayedSink&) = delete;
  ReplayedSink& operator=(const ReplayedSink&) = delete;

  /// Null where the inner one is; refers to this object.
  [[nodiscard]] TensorSink sink();
  /// What follows comes from the beginning.
  void begin_again() { at_ = 0; }
  /// Of a run that is over: whether all that had come before has come again.
  [[nodiscard]] Status replayed() const;

 private:
  [[nodiscard]] Status take(const std::string& name, const Tensor& tensor);

  TensorSink inner_;
  std::vector<std::pair<std::string, std::size_t>> taken_;  ///< names and hashes
  std::size_t at_ = 0;
};

}  // namespace driftscope
