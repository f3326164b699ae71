#include "core/gui/layer_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace driftscope::gui {
namespace {

/// A word of a shell's command.
std::string shell_word(const std::string& text) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,@%+-";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::string command_lines(const LayerTask& task, const std::string& model) {
  const std::string file = shell_word(model);
  const std::string node = shell_word(task.node);
  const std::string run = fmt::format("driftscope run {} --target {} --trace t.safetensors\n", file,
                                      shell_word(task.ran_on.empty() ? task.target : task.ran_on));
  switch (task.work) {
    case LayerWork::causal_test:
      return run + fmt::format("driftscope explain {} t.safetensors {} --matters", file, node);
    case LayerWork::reduce:
      return run + fmt::format("driftscope reduce {} t.safetensors {} -o report", file, node);
    case LayerWork::repro: break;
  }
  return run + fmt::format("driftscope repro {} t.safetensors {} -o report", file, node);
}

}  // namespace driftscope::gui
