// How a picture becomes a model's input: the description MODEL.preprocess.json beside a model
// (format: assets/README.md) and its arithmetic, the same bits on every host. Texts: text_preprocess.
// Clients: dataset, the command line, the page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/dataset/picture.hpp"
#include "core/model/model.hpp"

namespace driftscope {

enum class ChannelOrder { gray, rgb, bgr };
enum class Layout { nchw, nhwc };
enum class Crop { none, center };

/// How a picture of another size is fitted to the model's; see core/dataset/resize.hpp for the filter.
enum class ResizeRule {
  none,          ///< not at all: another size is an error
  exact,         ///< to `height` x `width`, whatever the aspect
  shorter_side,  ///< the shorter side to `shorter_side`, the longer one in proportion (rounded down)
};

struct Preprocess {
  std::string input;  ///< name of the graph input
  std::int64_t channels = 0;
  std::int64_t height = 0;  ///< of the model's input
  std::int64_t width = 0;
  ChannelOrder order = ChannelOrder::gray;
  float scale = 1.0f;
  std::vector<float> mean;          ///< per channel of the tensor
  std::vector<float> std;           ///< per channel of the tensor, not 0
  std::vector<std::string> labels;  ///< class names; may be empty

  Layout layout = Layout::nchw;
  DType dtype = DType::float32;  ///< float32, float16 or uint8
  ResizeRule resize = ResizeRule::none;
  std::int64_t shorter_side = 0;
  bool antialias = false;
  Crop crop = Crop::none;    ///< center: after resizing, as torchvision's CenterCrop
  bool gray_to_rgb = false;  ///< a gray picture is repeated for each channel, else it is an error

  /// "1x28x28 gray", for messages.
  [[nodiscard]] std::string text() const;
};

/// Reads the JSON text; every wrong or missing field is named.
[[nodiscard]] Result<Preprocess> parse_preprocess(std::string_view json_text);

/// One stored sample, gray or RGB, height × width bytes plane by plane → 1×C×H×W or 1×H×W×C:
///   (float32(pixel) · scale − mean[c]) ÷ std[c]
/// three operations, each rounded to float32, none fused; float16 rounds the result once more, uint8
/// keeps the pixel.
[[nodiscard]] Result<Tensor> preprocess(const Preprocess& how, std::span<const std::byte> pixels);

/// The same for a decoded picture: channels are matched, then it is resized and cropped.
[[nodiscard]] Result<Tensor> preprocess(const Preprocess& how, const Picture& picture);

}  // namespace driftscope
