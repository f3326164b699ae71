#include "native/gui/desktop_host.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/sha256.hpp"
#include "core/gui/stored_targets.hpp"
#include "native/gui/comparison_run.hpp"
#include "native/gui/environment.hpp"
#include "native/gui/opened_files.hpp"
#include "native/gui/shipped.hpp"
#include "native/host/sample_files.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

}  // namespace

DesktopHost::DesktopHost(RunnerOptions options, fs::path folder, std::function<void()> changed)
    : options_(std::move(options)),
      folder_(std::move(folder)),
      changed_(std::move(changed)),
      feed_(std::make_shared<const gui::Feed>()),
      background_([this] { changed_(); }) {
  do_later("detecting targets", [this] { probe_environment(); });
  worker_ = std::thread([this] { work(); });
}

DesktopHost::~DesktopHost() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    jobs_.clear();
  }
  stopped_ = true;
  wake_.notify_all();
  worker_.join();
}

std::shared_ptr<const gui::Feed> DesktopHost::feed() {
  const std::lock_guard lock(mutex_);
  return feed_;
}

void DesktopHost::change(const std::function<void(gui::Feed&)>& edit) {
  {
    const std::lock_guard lock(mutex_);
    auto next = std::make_shared<gui::Feed>(*feed_);
    edit(*next);
    feed_ = std::move(next);
  }
  changed_();
}

void DesktopHost::fail(std::string message) {
  change([&](gui::Feed& feed) { feed.error += (feed.error.empty() ? "" : "\n") + message; });
}

void DesktopHost::do_later(std::string doing, Job job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.emplace_back(std::move(doing), std::move(job));
    auto next = std::make_shared<gui::Feed>(*feed_);
    next->busy = true;
    feed_ = std::move(next);
  }
  wake_.notify_one();
}

void DesktopHost::work() {
  while (true) {
    std::pair<std::string, Job> job;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return ending_ || !jobs_.empty(); });
      if (ending_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
      working_ = true;
      stopped_ = false;
    }
    change([&](gui::Feed& feed) {
      feed.busy = true;
      feed.doing = job.first;
      feed.error.clear();
    });
    try {
      job.second();
    } catch (const std::bad_alloc&) {
      fail("out of memory: the requested operation is too large for this machine");
    } catch (const std::exception& error) {
      fail(std::string("internal error: ") + error.what());
    }
    change([&](gui::Feed& feed) {
      working_ = false;
      feed.busy = !jobs_.empty();
      feed.doing.clear();
    });
  }
}

void DesktopHost::probe_environment() {
  if (auto assets = find_assets(); assets.ok()) {
    assets_ = *std::move(assets);
    model_paths_ = shipped_models(assets_);
  }
  change([&](gui::Feed& feed) {
    for (const fs::path& path : model_paths_) feed.models.push_back(path.stem().string());
  });
  if (!model_paths_.empty()) {
    const Status chosen = select_model(0);
    if (!chosen.ok()) fail(chosen.error().message);
  }
  const fs::path place = default_history();
  auto history = std::make_shared<const std::vector<gui::RunTrend>>(read_history(place));
  change([&](gui::Feed& feed) {
    feed.history = std::move(history);
    feed.history_advice = "driftscope bench MODEL --targets … adds each bench to it" +
                          (place.empty() ? std::string(".") : ":\n" + place.string());
  });
  auto targets = targets_here(options_.site);
  change([&](gui::Feed& feed) { feed.targets = std::move(targets); });
}

Status DesktopHost::select_model(std::size_t place) {
  if (place >= model_paths_.size()) return {};
  DRIFTSCOPE_TRY(OpenedModel opened, open_model(model_paths_[place]));
  use_model(std::make_shared<const ModelFile>(std::move(opened.model)), place, std::move(opened.inputs));
  return {};
}

void DesktopHost::use_model(std::shared_ptr<const ModelFile> model, std::size_t place,
                            std::optional<GivenInputs> kept_inputs) {
  model_ = std::move(model);
  const SampleSet samples = assets_.empty() ? SampleSet{} : samples_for(*model_, assets_);
  sample_spec_ = samples.spec;
  const std::int64_t sample = std::min(demo_sample, std::max<std::int64_t>(0, samples.samples - 1));
  inputs_.clear();
  kept_inputs_ = std::move(kept_inputs);
  if (!sample_spec_.empty()) inputs_ = {fmt::format("{}#{}", sample_spec_, sample)};
  change([&](gui::Feed& feed) {
    feed.model = place;
    feed.samples = samples.samples;
    feed.sample = sample;
    feed.input = kept_inputs_           ? kept_inputs_->text + ", as kept"
                 : sample_spec_.empty() ? "chosen to fit the model; random numbers have the seed 42"
                                        : "a sample of the shipped test set";
  });
}

void DesktopHost::choose_model(std::size_t place) {
  do_later("loading the model", [this, place] {
    const Status chosen = select_model(place);
    if (!chosen.ok()) fail(chosen.error().message);
  });
}

void DesktopHost::choose_sample(std::int64_t sample) {
  do_later("choosing the sample", [this, sample] {
    if (sample_spec_.empty()) return;
    inputs_ = {fmt::format("{}#{}", sample_spec_, sample)};
    kept_inputs_.reset();
    change([&](gui::Feed& feed) {
      feed.sample = sample;
      feed.input = "a sample of the shipped test set";
    });
  });
}

void DesktopHost::run_demo() {
  do_later("running the demo", [this] {
    const auto demo = std::find_if(model_paths_.begin(), model_paths_.end(),
                                   [](const fs::path& path) { return path.stem() == "lenet5"; });
    if (demo == model_paths_.end())
      return fail("the shipped models were not found: name their folder in DRIFTSCOPE_ASSETS");
    const Status chosen = select_model(static_cast<std::size_t>(demo - model_paths_.begin()));
    if (!chosen.ok()) return fail(chosen.error().message);
    gui::RunChoice wanted;
    wanted.dataset = true;
    for (const gui::TargetChoice& choice : feed()->targets)
      if (choice.available && choice.by_default) wanted.targets.push_back(choice.target);
    run_now(std::move(wanted));
  });
}

void DesktopHost::run(gui::RunChoice choice) {
  do_later("running", [this, choice = std::move(choice)] { run_now(choice); });
}

void DesktopHost::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  jobs_.clear();
  // Waiting jobs are dropped here; the running one stops at its next check.
  auto next = std::make_shared<gui::Feed>(*feed_);
  next->busy = working_;
  feed_ = std::move(next);
}

void DesktopHost::run_now(gui::RunChoice choice) {
  if (!model_) return fail("no model is chosen: open an .onnx file");
  open_.clear();
  open_about_ = {};
  if (!runner_) runner_ = std::make_unique<TargetRunner>(options_);
  WindowComparison plan;
  plan.model = model_;
  plan.inputs = inputs_;
  plan.kept_inputs = kept_inputs_;
  if (choice.dataset) plan.dataset = sample_spec_;
  plan.choice = std::move(choice);
  ComparisonCallbacks callbacks;
  callbacks.stopped = [this] { return stopped_.load(); };
  callbacks.progress = [this](const std::vector<gui::TargetProgress>& progress) {
    change([&](gui::Feed& feed) { feed.progress = progress; });
  };
  callbacks.result = [this](gui::Snapshot snapshot) {
    auto made = std::make_shared<const gui::Snapshot>(std::move(snapshot));
    change([&](gui::Feed& feed) { feed.snapshot = std::move(made); });
  };
  const Status done = run_comparison(plan, *runner_, callbacks);
  if (done.ok()) return;
  if (done.error().kind != ErrorKind::cancelled) return fail(done.error().message);
  change([](gui::Feed& feed) {
    for (gui::TargetProgress& one : feed.progress)
      if (one.state == gui::TargetProgress::State::running ||
          one.state == gui::TargetProgress::State::waiting) {
        one.state = gui::TargetProgress::State::failed;
        one.error = "stopped";
      }
  });
}

void DesktopHost::open(std::vector<fs::path> paths) {
  if (paths.empty()) return;
  std::string doing = paths.size() == 1 ? "opening " + paths.front().filename().string()
                                        : fmt::format("opening {} files", paths.size());
  do_later(std::move(doing), [this, paths = std::move(paths)] { open_now(paths); });
}

std::shared_ptr<const ModelFile> DesktopHost::model_with(const std::string& sha256) {
  if (sha256.empty() || (model_ && model_->sha256 == sha256)) return sha256.empty() ? nullptr : model_;
  for (std::size_t i = 0; i < model_paths_.size(); ++i) {
    const auto bytes = read_file(model_paths_[i]);
    if (!bytes.ok() || sha256_hex(*bytes) != sha256) continue;
    const Status chosen = select_model(i);
    return chosen.ok() ? model_ : nullptr;
  }
  return nullptr;
}

void DesktopHost::open_now(const std::vector<fs::path>& paths) {
  std::vector<gui::TargetParts> fresh;
  bool new_model = false;
  std::optional<gui::SnapshotParts> about;      // of a kept comparison
  std::optional<gui::SnapshotParts> described;  // of a stored one, whose traces may be open already
  std::vector<std::string> curves;
  for (const fs::path& path : paths) {
    switch (kind_of_file(path)) {
      case FileKind::model: {
        auto opened = open_model(path);
        if (!opened.ok()) {
          fail(opened.error().message);
          break;
        }
        add_model(path, *std::move(opened));
        new_model = true;
        break;
      }
      case FileKind::kept: {
        if (Status opened = open_kept_now(path, fresh, about); !opened.ok()) fail(opened.error().message);
        break;
      }
      case FileKind::trace: {
        auto trace = open_trace(path);
        if (trace.ok())
          fresh.push_back(*std::move(trace));
        else
          fail(trace.error().message);
        break;
      }
      case FileKind::comparison: {
        auto comparison = open_comparison(path);
        if (!comparison.ok()) {
          fail(comparison.error().message);
          break;
        }
        gui::merge_targets(fresh, std::exchange(comparison->targets, {}));
        if (!comparison->title.empty()) described = *std::move(comparison);
        break;
      }
      case FileKind::study: open_study_now(path); break;
      case FileKind::attack: open_attack_now(path); break;
      case FileKind::generation: open_generation_now(path); break;
      case FileKind::curves: curves.push_back(path.string()); break;
      case FileKind::sample: {
        inputs_ = {path.string()};
        kept_inputs_.reset();
        change([&](gui::Feed& feed) { feed.input = path.string(); });
        break;
      }
      case FileKind::unknown:
        fail(fmt::format(
            "{}: unknown kind of file; expected .onnx, a trace (.safetensors), a kept comparison "
            "(.drift), the JSON of compare, verify, attack or generate, the folder of a study, an attack or "
            "a "
            "generation, training "
            "curves (.csv, .json, event files or their folder), or a sample (.png, .jpg, .txt, .npy, .pb, a "
            "folder)",
            path.string()));
    }
  }
  if (!curves.empty()) open_curves_now(curves);
  if (fresh.empty() && !(new_model && !open_.empty())) return;
  // Runs of one model are kept together; those of another model replace them.
  std::string sha;
  for (const gui::TargetParts& one : fresh)
    if (sha.empty()) sha = model_of(one);
  const auto foreign = [&](const gui::TargetParts& one) {
    return !sha.empty() && !model_of(one).empty() && model_of(one) != sha;
  };
  // A kept comparison is shown as it ran, by itself.
  const bool replaces = about || std::any_of(open_.begin(), open_.end(), foreign);
  if (replaces) open_.clear();
  for (const gui::TargetParts& one : fresh)
    if (foreign(one))
      fail(fmt::format("{} is a run of another model ({}…, the others of {}…): it was left out", one.target,
                       model_of(one).substr(0, 12), sha.substr(0, 12)));
  std::erase_if(fresh, foreign);
  gui::merge_targets(open_, std::move(fresh));
  if (about) {
    open_about_ = *std::move(about);
  } else if (described) {
    open_about_ = *std::move(described);
  } else if (replaces || open_about_.input_text.empty()) {
    open_about_ = {};
    open_about_.title = paths.front().filename().string();
  }
  show_open_runs();
}

void DesktopHost::show_open_runs() {
  std::string sha;
  for (const gui::TargetParts& one : open_)
    if (sha.empty()) sha = model_of(one);
  std::shared_ptr<const ModelFile> model = sha.empty() ? nullptr : model_with(sha);
  // A trace that names no model is taken as one of the open model, if that has its values.
  if (!model && sha.empty()) model = model_;
  const auto on_progress = [this](const std::string& what, std::int64_t done, std::int64_t total) {
    change([&](gui::Feed& feed) {
      feed.doing = fmt::format(
          "{} {:.0f} %", what,
          100.0 * static_cast<double>(done) / static_cast<double>(std::max<std::int64_t>(1, total)));
    });
    return !stopped_.load();
  };
  gui::SnapshotParts parts = open_about_;
  parts.model_sha256 = sha;
  if (model) {
    const auto verified = [this] {
      return std::count_if(open_.begin(), open_.end(),
                           [](const gui::TargetParts& one) { return one.verification.has_value(); });
    };
    const auto from_files = verified();
    verify_targets(open_, *model, [&](const std::string& target, std::int64_t done, std::int64_t total) {
      return on_progress("judging " + target, done, total);
    });
    if (!sha.empty() || verified() > from_files) {
      if (!parts.topology) parts.title = model->name;
      parts.topology = topology_of(model->graph);
      parts.notes = note_lines(model->graph.notes);
      if (parts.class_names.empty()) parts.class_names = class_names(*model);
    } else {
      for (gui::TargetParts& one : open_)
        one.error.clear();  // of another model than the open one: not verified
    }
  }
  parts.targets = open_;
  auto snapshot = std::make_shared<const gui::Snapshot>(gui::make_snapshot(
      std::move(parts),
      [&](std::int64_t done, std::int64_t total) { return on_progress("comparing", done, total); }));
  change([&](gui::Feed& feed) { feed.snapshot = std::move(snapshot); });
}

std::string DesktopHost::save(const std::string& name, std::span<const std::byte> bytes) {
  // Older pictures are not overwritten.
  fs::path path = folder_ / name;
  std::error_code ignored;
  for (int i = 2; fs::exists(path, ignored) && i < 10000; ++i)
    path = folder_ /
           fmt::format("{}-{}{}", fs::path(name).stem().string(), i, fs::path(name).extension().string());
  const Status written = write_file(path, bytes);
  return written.ok() ? "saved " + path.string() : "not saved: " + written.error().message;
}

}  // namespace driftscope
