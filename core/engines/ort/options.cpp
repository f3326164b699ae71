#include "core/engines/ort/options.hpp"

#include <fmt/format.h>

#include <array>

namespace driftscope::ort {
namespace {

constexpr std::array<std::string_view, 4> optimizations = {"none", "basic", "extended", "all"};

Result<Optimization> read_optimization(const std::string& text) {
  for (std::size_t i = 0; i < optimizations.size(); ++i)
    if (text == optimizations[i]) return static_cast<Optimization>(i);
  return bad_input(fmt::format("option opt={}: expected {}", text, fmt::join(optimizations, ", ")));
}

}  // namespace

std::string_view optimization_name(Optimization optimization) {
  return optimizations[static_cast<std::size_t>(optimization)];
}

Result<Options> read_options(const EngineOptions& given) {
  Options options;
  options.threads = given.threads > 0 ? given.threads : usable_processors();
  for (const auto& [key, value] : given.values) {
    if (key.find('.') != std::string::npos) {
      options.config[key] = value;
      continue;
    }
    if (key != "opt")
      return bad_input(fmt::format(
          "engine ort has no option \"{}\". Its options: threads=N (default: all processors), "
          "opt=none|basic|extended|all (default: all; how far ONNX Runtime may rewrite the graph), "
          "and ONNX Runtime's own session configuration, as session.x64quantprecision=1",
          key));
    DRIFTSCOPE_TRY(options.optimization, read_optimization(value));
  }
  return options;
}

}  // namespace driftscope::ort
