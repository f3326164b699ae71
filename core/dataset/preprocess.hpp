// How a stored sample becomes a model's input: the description MODEL.preprocess.json beside a model
// (format: assets/README.md) and its arithmetic. Clients: dataset, the command line, the page.
// It does not resize pictures.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/model.hpp"

namespace driftscope {

enum class ChannelOrder { gray, rgb };

struct Preprocess {
  std::string input;  ///< name of the graph input
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  ChannelOrder order = ChannelOrder::gray;
  float scale = 1.0f;
  std::vector<float> mean;  ///< per channel
  std::vector<float> std;   ///< per channel, not 0
  std::vector<std::string> labels;  ///< class names; may be empty

  /// "1x28x28 gray", for messages.
  [[nodiscard]] std::string text() const;
};

/// Reads the JSON text; every wrong or missing field is named.
[[nodiscard]] Result<Preprocess> parse_preprocess(std::string_view json_text);

/// One picture, channels × height × width bytes plane by plane → float32, 1×C×H×W:
///   (float32(pixel) · scale − mean[c]) ÷ std[c]
/// three operations, each rounded to float32, none fused: the same bits everywhere.
[[nodiscard]] Result<Tensor> preprocess(const Preprocess& how, std::span<const std::byte> pixels);

}  // namespace driftscope
