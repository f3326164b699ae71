// Index tensors and lists of axes for the operators that move data: int32 or int64,
// negative ones counted from the end. Clients: Gather, Scatter, Slice, Squeeze, ….
// Messages name the input by number and ONNX name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/eval/operator.hpp"
#include "core/graph/attributes.hpp"
#include "core/model/indices_of.hpp"

namespace driftscope {

/// The type is int32 or int64, or not known yet.
[[nodiscard]] Status expect_index(const InferContext& context, std::size_t input, std::string_view name);

/// Elements as positions in [0, size); an error names the first that lies outside [−size, size).
[[nodiscard]] Result<std::vector<std::int64_t>> positions_of(const Tensor& tensor, std::int64_t size,
                                                             std::size_t input, std::string_view name);

/// The one element of an integer tensor: a scalar, or a vector of one as exporters also write.
[[nodiscard]] Result<std::int64_t> single_integer(const Tensor& tensor, std::size_t input,
                                                  std::string_view name);

/// Axes counted from the front, each at most once.
[[nodiscard]] Result<std::vector<std::size_t>> normalize_axes(std::span<const std::int64_t> axes,
                                                              std::size_t rank);

/// A list that is an attribute before opset `input_since` and input `input` from it on.
struct IntsSource {
  std::string_view name;
  std::size_t input = 0;
  std::int64_t input_since = 0;
};
struct GivenInts {
  bool given = false;          ///< the node has the attribute or the input
  std::optional<Ints> values;  ///< nothing while the input's value is not known
};
[[nodiscard]] Result<GivenInts> read_ints(const InferContext& context, const IntsSource& source);

/// The same while the node runs.
template <class S>
[[nodiscard]] Result<std::optional<Ints>> read_ints(const KernelContext<S>& context,
                                                    const IntsSource& source) {
  if (context.opset() < source.input_since) {
    if (context.node().attribute(source.name) == nullptr) return std::optional<Ints>();
    DRIFTSCOPE_TRY(Ints values, ints_attribute(context.node(), source.name, {}));
    return std::optional<Ints>(std::move(values));
  }
  if (!context.has_input(source.input)) return std::optional<Ints>();
  return std::optional<Ints>(indices_of(context.tensor(source.input)));
}

/// Indices that rounding before this node may have changed cannot be judged: an unsupported error.
template <class S>
[[nodiscard]] Status expect_certain(const KernelContext<S>& context, std::size_t input,
                                    std::string_view name);

}  // namespace driftscope
