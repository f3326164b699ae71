// The host of the GUI on the desktop: a worker thread that opens files and runs comparisons, and
// textures for drawing. Clients: the window, the tests.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/gui/feed.hpp"
#include "native/gui/background.hpp"
#include "native/host/inputs.hpp"
#include "native/host/kept_file.hpp"
#include "native/host/model_file.hpp"
#include "native/host/target_runner.hpp"

namespace driftscope {

class DesktopHost : public gui::Host {
 public:
  /// `changed` is called from the worker whenever there is a newer feed. Files are saved in `folder`.
  DesktopHost(RunnerOptions options, std::filesystem::path folder, std::function<void()> changed);
  /// Stops the current work and waits for it.
  ~DesktopHost() override;

  /// Models, traces, stored and kept comparisons, samples; shown together as one run where they fit. Folders
  /// of studies and attacks, and training curves, beside them.
  void open(std::vector<std::filesystem::path> paths);

  [[nodiscard]] std::shared_ptr<const gui::Feed> feed() override;
  void run_demo() override;
  void choose_model(std::size_t place) override;
  void choose_sample(std::int64_t sample) override;
  void run(gui::RunChoice choice) override;
  bool examine(gui::LayerTask task) override;
  void stop() override;
  std::string save(const std::string& name, std::span<const std::byte> bytes) override;
  void in_background(std::function<void()> work) override { background_.add(std::move(work)); }
  /// Whether views have work going on.
  [[nodiscard]] bool in_the_background() const { return background_.busy(); }
  // Without a window there are no textures.
  std::uintptr_t make_texture(const Image&) override { return 0; }
  void release_texture(std::uintptr_t) override {}

 private:
  using Job = std::function<void()>;

  void do_later(std::string doing, Job job);
  void work();
  void change(const std::function<void(gui::Feed&)>& edit);
  void fail(std::string message);
  // Only on the worker:
  void probe_environment();
  void open_now(const std::vector<std::filesystem::path>& paths);
  [[nodiscard]] Status open_kept_now(const std::filesystem::path& path, std::vector<gui::TargetParts>& fresh,
                                     std::optional<gui::SnapshotParts>& about);
  void open_study_now(const std::filesystem::path& path);
  void open_attack_now(const std::filesystem::path& path);
  void open_curves_now(const std::vector<std::string>& paths);
  void open_generation_now(const std::filesystem::path& path);
  void add_model(const std::filesystem::path& path, OpenedModel opened);
  void show_open_runs();
  Status select_model(std::size_t place);
  void use_model(std::shared_ptr<const ModelFile> model, std::size_t place,
                 std::optional<GivenInputs> kept_inputs);
  void run_now(gui::RunChoice choice);
  void examine_now(const gui::LayerTask& task);
  [[nodiscard]] Result<gui::LayerWorkResult> examined(const gui::LayerTask& task);
  [[nodiscard]] std::shared_ptr<const ModelFile> model_with(const std::string& sha256);

  RunnerOptions options_;
  std::filesystem::path folder_;
  std::function<void()> changed_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::shared_ptr<const gui::Feed> feed_;  // guarded by mutex_, like the next three
  std::deque<std::pair<std::string, Job>> jobs_;
  bool ending_ = false;
  bool working_ = false;
  std::atomic<bool> stopped_{false};

  // Used only by the worker.
  std::unique_ptr<TargetRunner> runner_;
  std::filesystem::path assets_;
  std::vector<std::filesystem::path> model_paths_;
  std::shared_ptr<const ModelFile> model_;
  std::vector<std::string> inputs_;
  std::optional<GivenInputs> kept_inputs_;  // of a kept comparison, in place of those
  std::string sample_spec_;
  std::vector<gui::TargetParts> open_;  // opened from files
  gui::SnapshotParts open_about_;       // their description, without targets

  std::thread worker_;
  Background background_;  // last: its thread ends first
};

}  // namespace driftscope
