#include "core/ops/shared/matrix_batches.hpp"

#include <fmt/format.h>

namespace driftscope {

Result<std::optional<SymbolicShape>> infer_matmul(const InferContext& context,
                                                  std::array<std::size_t, 2> inputs,
                                                  std::array<std::string_view, 2> names) {
  for (std::size_t i = 0; i < 2; ++i)
    DRIFTSCOPE_CHECK(expect_rank(context, inputs[i], names[i], 1, std::size_t(-1)));
  if (!context.input(inputs[0]).shape || !context.input(inputs[1]).shape)
    return std::optional<SymbolicShape>();
  const SymbolicShape& a = *context.input(inputs[0]).shape;
  const SymbolicShape& b = *context.input(inputs[1]).shape;
  const Dimension& depth = b[b.size() == 1 ? 0 : b.size() - 2];
  if (!unify(a.back(), depth))
    return bad_input(
        fmt::format("{}: {} rows (shape {}) must equal the {} columns of input {} ({}: shape {})",
                    input_label(inputs[1], names[1]), depth.size, shape_text(b), a.back().size, inputs[0],
                    names[0], shape_text(a)));
  const auto batch_of = [](const SymbolicShape& shape) {
    return SymbolicShape(shape.begin(), shape.size() < 2 ? shape.begin() : shape.end() - 2);
  };
  DRIFTSCOPE_TRY(SymbolicShape y, broadcast(batch_of(a), batch_of(b)));
  if (a.size() > 1) y.push_back(a[a.size() - 2]);
  if (b.size() > 1) y.push_back(b.back());
  return std::optional<SymbolicShape>(std::move(y));
}

}  // namespace driftscope
