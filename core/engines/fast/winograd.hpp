// Winograd's convolutions on NHWC: whether a layer gains by one, its transformed weights, and its run.
// Kernels: simd/winograd.hpp. Clients: winograd_step.cpp, the lowering, which has the choice.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/engines/fast/simd/winograd.hpp"
#include "core/engines/strict/simd/aligned.hpp"
#include "core/lowering/window2d.hpp"
#include "core/numerics/winograd.hpp"
#include "core/platform/platform.hpp"

namespace driftscope::fast {

/// F(m×m, r×r): output tiles of m×m for kernels of r×r.
struct WinogradTile {
  std::int64_t output = 0;  ///< m
  std::int64_t kernel = 0;  ///< r

  [[nodiscard]] std::int64_t input() const { return output + kernel - 1; }  ///< n
  [[nodiscard]] std::int64_t elements() const { return input() * input(); }
  bool operator==(const WinogradTile&) const = default;
};

/// "F(4,3)"
[[nodiscard]] std::string winograd_name(const WinogradTile& tile);

/// A convolution of one group with strides and dilations of 1.
struct WinogradShape {
  std::int64_t batch = 0;
  std::int64_t inputs = 0;   ///< channels
  std::int64_t outputs = 0;  ///< channels
  lowering::Window2d window;

  /// Of output tiles, in all images.
  [[nodiscard]] std::int64_t tiles(const WinogradTile& tile) const;
};

/// The tiles that there are kernels for; none for other convolutions than those above.
[[nodiscard]] std::vector<WinogradTile> winograd_tiles(const WinogradShape& shape, std::int64_t groups,
                                                       const WinogradKernels& kernels);

/// How much memory transformed weights may take.
enum class WinogradChoice { off, small, automatic };

/// The tile by which the layer is estimated to be computed fastest; nothing where that is the direct way.
/// `small`: of those whose weights grow less than twofold.
[[nodiscard]] std::optional<WinogradTile> choose_winograd(const WinogradShape& shape, std::int64_t groups,
                                                          const WinogradKernels& kernels,
                                                          WinogradChoice choice);

class WinogradConvolution {
 public:
  /// `weights`: outputs × inputs × r × r; `bias` may be null. Both are copied. Throws std::bad_alloc.
  WinogradConvolution(const WinogradShape& shape, const WinogradTile& tile, const WinogradKernels& kernels,
                      const float* weights, const float* bias, float min, float max, ThreadPool& threads);

  /// Floats of scratch memory, aligned to 64 bytes.
  [[nodiscard]] std::int64_t scratch() const { return slots_ * block_ * (v_row_ + m_row_); }
  [[nodiscard]] std::int64_t weight_bytes() const;

  /// NHWC. `addend`, of y's shape and at another place, is added before the clamp; it may be null.
  void run(const float* x, const float* addend, float* y, float* scratch) const;

 private:
  struct Range {
    std::int64_t begin, end;
    [[nodiscard]] std::int64_t size() const { return end - begin; }
  };
  struct Operands {
    const float* x;
    const float* addend;
    float* y;
  };

  void plan(int threads);
  [[nodiscard]] std::int64_t ranges() const;
  void pack(const float* weights);
  void pack_panel(const float* weights, std::int64_t panel);
  void pack_kernels(const float* weights, std::int64_t output, std::int64_t count, std::int64_t input,
                    float* to) const;
  void run_by_tiles(const Operands& it, float* scratch) const;
  void run_by_outputs(const Operands& it, float* scratch) const;
  void transform_inputs(const float* x, Range tiles, float* v) const;
  void multiply(std::int64_t tiles, Range panels, const float* v, float* m) const;
  void transform_outputs(const Operands& it, Range tiles, Range panels, const float* m) const;
  void compute_directly(const float* image, std::int64_t top, std::int64_t left, Range outputs,
                        float* const* pixels, const float* const* addends) const;

  WinogradShape shape_;
  WinogradTile tile_;
  WinogradMatrices matrices_;
  WinogradKernels kernels_;
  ThreadPool& threads_;
  std::int64_t panels_;
  std::int64_t down_;  // tiles of an image
  std::int64_t across_;
  std::int64_t v_element_;
  std::int64_t m_element_;
  std::int64_t weights_element_;
  std::int64_t v_row_;
  std::int64_t m_row_;
  std::int64_t block_ = 0;   // tiles at once
  std::int64_t slots_ = 1;   // blocks at once: each has its own part of the scratch memory
  bool by_outputs_ = false;  // threads share outputs rather than tiles
  AlignedFloats weights_;    // [element][panel][input][column], and padding behind each element
  std::vector<float> bias_;
  std::vector<float> zeros_;
  float min_;
  float max_;
};

}  // namespace driftscope::fast
