// Runs a model on pictures and says what its neurons did. Client: the command. It decides nothing.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/dataset/preprocess.hpp"
#include "core/mutants/coverage.hpp"
#include "core/mutants/mutation.hpp"
#include "core/runtime/engine.hpp"

namespace driftscope {

class ActivationRunner {
 public:
  /// In batches of `batch`, or one by one where the model's batch is fixed. Errors: the engine cannot run the
  /// model, or it has no layer whose neurons count.
  [[nodiscard]] static Result<ActivationRunner> make(const Graph& graph, const Preprocess& how,
                                                     std::string_view engine, std::int64_t batch);

  /// Pictures of the size that `how` says; any number.
  [[nodiscard]] Result<std::vector<Activations>> run(std::span<const StoredPicture* const> pictures);

  /// Neurons of each picture.
  [[nodiscard]] std::size_t neurons() const { return neurons_; }

 private:
  ActivationRunner() = default;
  [[nodiscard]] Status run_batch(std::span<const StoredPicture* const> pictures,
                                 std::vector<Activations>& results);

  std::shared_ptr<const Graph> graph_;
  std::unique_ptr<Session> session_;
  Preprocess how_;
  std::int64_t batch_ = 1;
  Tensor input_;  ///< of the last batch, whose rest fills one that is not full
  std::size_t neurons_ = 0;
};

}  // namespace driftscope
