// Data that the host (the desktop program or the page) publishes to the GUI, and the GUI's requests to it.
// The host works in the background; the GUI reads the newest feed and never waits.
// Clients: imgui/app, native/gui, web/gui.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/curves/curve_set.hpp"
#include "core/draw/heat_map.hpp"
#include "core/gui/layer_work.hpp"
#include "core/gui/run_history.hpp"
#include "core/gui/snapshot.hpp"
#include "core/report/attack_results.hpp"
#include "core/study/study_view.hpp"
#include "generated/documents/generate.hpp"

namespace driftscope::gui {

/// A place that can run models, or the reason why it cannot.
struct TargetChoice {
  std::string target;
  bool available = false;
  std::string detail;       ///< version, or why it is unavailable and how to get it
  bool by_default = false;  ///< chosen until the user chooses otherwise, and in the demo
};

/// What is to run, and which checks with it.
struct RunChoice {
  std::vector<std::string> targets;  ///< the others are compared with the first one
  bool dataset = false;              ///< predict all samples as well
  bool repeat_check = false;         ///< do several runs give the same bits?
  bool perturbation_check = false;   ///< does capturing change the outputs?
  bool watch_memory = false;         ///< does memory grow from run to run?
};

/// So many runs are compared by the repeat check.
inline constexpr int repeat_check_runs = 10;

struct TargetProgress {
  std::string target;
  enum class State { waiting, running, done, failed } state = State::waiting;
  std::string step;  ///< "starting the browser"
  std::int64_t done = 0;
  std::int64_t total = 0;
  std::string error;
};

struct Feed {
  std::shared_ptr<const Snapshot> snapshot;  ///< null: nothing is open
  std::shared_ptr<const std::vector<RunTrend>> history;
  std::shared_ptr<const StudyView> study;  ///< null: none is open
  std::shared_ptr<const std::vector<AttackResults>> attacks;
  std::shared_ptr<const CurveSet> curves;
  std::shared_ptr<const documents::Generate> generation;
  /// What came of wrong layers that were examined, the newest last; null: nothing.
  std::shared_ptr<const std::vector<LayerWorkResult>> examined;
  std::optional<LayerTask> examining;  ///< going on
  std::string history_advice;          ///< how to add to it, shown when it is empty
  std::vector<std::string> models;     ///< shipped ones, and opened ones: chosen by index
  std::size_t model = 0;               ///< chosen
  std::string input;                   ///< of the next run, in words
  std::int64_t samples = 0;            ///< number to choose from; 0: none
  std::int64_t sample = 0;
  std::vector<TargetChoice> targets;
  std::vector<TargetProgress> progress;
  bool busy = false;
  std::string doing;  ///< "opening trace.safetensors"
  std::string error;  ///< of the last request
};

class Host {
 public:
  Host() = default;
  virtual ~Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  [[nodiscard]] virtual std::shared_ptr<const Feed> feed() = 0;
  /// The comparison of the demo: LeNet-5 on a real digit, on all targets.
  virtual void run_demo() = 0;
  virtual void choose_model(std::size_t place) = 0;
  virtual void choose_sample(std::int64_t sample) = 0;
  virtual void run(RunChoice choice) = 0;
  /// Examines a wrong layer; false: this host cannot, the commands can (command_lines).
  virtual bool examine(LayerTask) { return false; }
  virtual void stop() = 0;
  /// Writes a file where the user can find it; returns where, or an error.
  virtual std::string save(const std::string& name, std::span<const std::byte> bytes) = 0;
  /// Runs it soon, never within a frame: on another thread, or between two frames. What it touches belongs to
  /// it until it has ended; frames follow.
  virtual void in_background(std::function<void()> work) = 0;
  /// A texture of the pixels; 0 on failure. To release it, pass the number.
  virtual std::uintptr_t make_texture(const Image& image) = 0;
  virtual void release_texture(std::uintptr_t texture) = 0;
};

}  // namespace driftscope::gui
