// Between the data's own units, in which attacks work (pixels in [0, 1]), and the model's input. Client:
// native/host/attack_run.
#pragma once

#include <optional>
#include <vector>

#include "core/attack/attack.hpp"
#include "core/dataset/preprocess.hpp"

namespace driftscope {

class DataUnits {
 public:
  /// Pixels of a description: input = (pixel·255·scale − mean[c])/std[c], three roundings to float32 as
  /// preprocess has them. Errors: inputs that are no float32 pictures of it.
  [[nodiscard]] static Result<DataUnits> pictures(const Preprocess& how);
  /// The model's input is the data itself, between the smallest and the largest element of `samples`.
  [[nodiscard]] static DataUnits plain(const Tensor& samples);

  /// A sample's pixels from the model's input. Those of 8-bit pictures are exactly n/255.
  [[nodiscard]] std::vector<float> data_of(std::span<const float> input) const;
  void to_input(std::span<const float> data, std::span<float> input) const;
  /// The gradient with respect to the data, from that with respect to the model's input.
  [[nodiscard]] std::vector<float> data_gradient(std::span<const float> gradient) const;

  /// low, high, channels and channel_stride; the rest is the caller's.
  [[nodiscard]] AttackSettings settings() const;

 private:
  [[nodiscard]] std::size_t channel(std::size_t at) const;

  bool pictures_ = false;
  float low_ = 0.0f, high_ = 1.0f;
  float scale_ = 1.0f;  ///< of a pixel in [0, 1]
  std::vector<float> mean_ = {0.0f}, std_ = {1.0f};
  std::int64_t channels_ = 1, stride_ = 1;
};

}  // namespace driftscope
