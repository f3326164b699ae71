// What operators ask the engines to compute, said once: elementwise functions, matrix products, lanes and
// reductions. How is the engine's choice. Clients: operators/, the lowerings of the engines. It emits
// nothing.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/shader_source.hpp"
#include "core/engines/gpu/indexing.hpp"
#include "core/engines/gpu/steps.hpp"
#include "core/lowering/window2d.hpp"
#include "core/ops/shared/lanes.hpp"

namespace driftscope::gpu {

/// Element (k, n) of a constant matrix.
using MatrixElement = std::function<float(std::int64_t k, std::int64_t n)>;

/// What is put side by side along an axis: `size` of the axis, each of `inner` elements in a row.
struct Piece {
  BufferId buffer = no_buffer;
  std::int64_t size = 0;
};

/// y = f(x0, x1, …), in the words of shaders/gpu/functions.wgsl: T is one number or four.
struct Elementwise {
  std::string expression;
  std::int64_t count = 0;
  /// Over the result's memory, joined, with a stride for each operand; empty where all lie as the result.
  std::vector<WalkAxis> axes;
};

/// Y (M x N) = A (M x K) · B (K x N), `batches` of them, + bias + addend, bounded.
struct Product {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batches = 1;
  BufferId a = no_buffer;
  MatrixElement constant_b;  ///< or else
  BufferId b = no_buffer;    ///< as it lies
  bool b_transposed = false;
  std::span<const float> bias;
  BufferId addend = no_buffer;  ///< of the same shape and layout as Y
  BufferId y = no_buffer;
  std::string a_batch = "0";  ///< which matrix of A belongs to `batch`
  std::string b_batch = "0";
  bool one_b = true;  ///< the same B for all batches
  Clamp clamp;
  /// A is an image of so many channels, whose windows are the rows.
  std::optional<Window2d> window;
  std::int64_t channels = 0;

  /// How many numbers of A lie side by side along K.
  [[nodiscard]] std::int64_t run_of_a() const { return window ? channels : k; }
};

/// What a convolution with constant weights consists of, in one and two dimensions.
struct ConvParts {
  const Tensor* w = nullptr;
  std::span<const float> bias;
  Window2d window;
  std::int64_t groups = 1;
  std::int64_t outputs = 0;
  std::int64_t channels = 0;  ///< of one group
  std::int64_t taps = 0;
};

/// One number of each lane, in words that both languages have.
struct Reduction {
  enum class Join : std::uint8_t { sum, largest, product };
  const char* first;  ///< the number of no elements
  const char* next;   ///< of `part` and the element v
  Join join;          ///< of parts of a lane
  const char* last;   ///< of the `whole`; {} is the size of the lane

  [[nodiscard]] std::string last_of(std::int64_t size) const;
};

/// The expression with bounds.
[[nodiscard]] std::string clamped(std::string_view expression, const Clamp& clamp);
/// CLAMPED, CLAMP_MIN, CLAMP_MAX.
void add_clamp(ShaderValues& values, const Clamp& clamp);

}  // namespace driftscope::gpu
