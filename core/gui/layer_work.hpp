// What a wrong layer can be examined with, beyond looking: the causal test, the smallest part that fails, a
// report for the makers. A host does it, or the user does with the commands. Clients: feed, the panel Why,
// native/gui.
#pragma once

#include <string>

namespace driftscope::gui {

enum class LayerWork { causal_test, reduce, repro };

struct LayerTask {
  LayerWork work = LayerWork::causal_test;
  std::string node = {};
  std::string target = {};
  std::string ran_on = {};  ///< what made a recorded run, where `target` is its file; else empty
  bool operator==(const LayerTask&) const = default;
};

struct LayerWorkResult {
  LayerTask task = {};
  std::string model_sha256 = {};
  bool failed = false;
  std::string text = {};    ///< what came of it, or the error
  std::string folder = {};  ///< that was made; empty: none
};

/// The same on the command line, a command a line; `model`: the name of its file.
[[nodiscard]] std::string command_lines(const LayerTask& task, const std::string& model);

}  // namespace driftscope::gui
