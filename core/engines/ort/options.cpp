#include "core/engines/ort/options.hpp"

#include <algorithm>
#include <array>

namespace driftscope::ort {
namespace {

constexpr std::array<std::string_view, 4> optimizations = {"none", "basic", "extended", "all"};

Optimization read_optimization(const std::string& text) {
  return static_cast<Optimization>(std::ranges::find(optimizations, text) - optimizations.begin());
}

}  // namespace

std::string_view optimization_name(Optimization optimization) {
  return optimizations[static_cast<std::size_t>(optimization)];
}

std::vector<EngineOption> option_list() {
  return {threads_option(),
          {.name = "opt",
           .help = "how far ONNX Runtime may rewrite the graph",
           .values = {optimizations.begin(), optimizations.end()},
           .default_text = "all"}};
}

Options read_options(const EngineOptions& given) {
  Options options;
  options.threads = given.threads > 0 ? given.threads : usable_processors();
  for (const auto& [key, value] : given.values) {
    if (key == "opt")
      options.optimization = read_optimization(value);
    else
      options.config[key] = value;
  }
  return options;
}

}  // namespace driftscope::ort
