#include "core/engines/webgl/elementwise.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace driftscope::webgl {
namespace {

Result<bool> emit(Lowering& lowering, std::string expression, bool functions, bool alike, std::string loads,
                  std::int64_t count, std::vector<BufferId> reads, BufferId write) {
  DRIFTSCOPE_CHECK(lowering.emit_draw("webgl/elementwise.glsl",
                                      {{"FUNCTIONS", functions ? 1 : 0},
                                       {"ALIKE", alike ? 1 : 0},
                                       {"ELEMENTS", 0},
                                       {"COUNT", count},
                                       {"LOADS", std::move(loads)},
                                       {"EXPRESSION", std::move(expression)}},
                                      std::move(reads), write));
  return true;
}

// Elements 4t … 4t + 3, wherever each of them lies.
std::string four_elements(std::size_t operand, const std::vector<WalkAxis>& axes) {
  std::string text = fmt::format("  vec4 x{};\n", operand);
  text +=
      fmt::format("  for (int j = 0; j < 4; j++) {{ int i = 4 * t + j; x{0}[j] = in{0}_element({1}); }}\n",
                  operand, glsl_place(axes, operand, "i"));
  return text;
}

}  // namespace

Result<bool> emit_elementwise(Lowering& lowering, std::string expression, bool functions,
                              const std::vector<WalkAxis>& joined_axes, std::vector<BufferId> reads,
                              BufferId write) {
  std::int64_t count = 1;
  for (const WalkAxis& axis : joined_axes) count *= axis.size;
  const auto walk = in_texels(joined_axes);
  std::string loads;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const bool whole = joined_axes.size() == 1 && joined_axes[0].strides[i] == 1;
    const bool single =
        std::ranges::all_of(joined_axes, [&](const WalkAxis& axis) { return axis.strides[i] == 0; });
    if (single)
      loads += fmt::format("  vec4 x{0} = vec4(in{0}_element(0));\n", i);
    else if (whole)
      loads += fmt::format("  vec4 x{0} = in{0}_texel(t);\n", i);
    else if (walk && walk->one_for_all[i])
      loads += fmt::format("  vec4 x{0} = vec4(in{0}_element({1}));\n", i, glsl_place(walk->axes, i, "t"));
    else if (walk)
      loads += fmt::format("  vec4 x{0} = in{0}_texel({1});\n", i, glsl_place(walk->axes, i, "t"));
    else
      loads += four_elements(i, joined_axes);
  }
  return emit(lowering, std::move(expression), functions, false, std::move(loads), count, std::move(reads),
              write);
}

Result<bool> emit_elementwise(Lowering& lowering, std::string expression, bool functions, std::int64_t count,
                              std::vector<BufferId> reads, BufferId write) {
  const bool alike =
      std::ranges::all_of(reads, [&](BufferId id) { return lowering.texels(id) == lowering.texels(write); });
  std::string loads;
  for (std::size_t i = 0; i < reads.size(); ++i)
    loads += alike ? fmt::format("  vec4 x{0} = in{0}_at(q, layer);\n", i)
                   : fmt::format("  vec4 x{0} = in{0}_texel(t);\n", i);
  return emit(lowering, std::move(expression), functions, alike, std::move(loads), count, std::move(reads),
              write);
}

}  // namespace driftscope::webgl
