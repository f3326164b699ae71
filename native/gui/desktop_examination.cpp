// What the window has examined of wrong layers.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "native/gui/desktop_host.hpp"
#include "native/gui/layer_examination.hpp"

namespace driftscope {
namespace {

std::string doing_text(const gui::LayerTask& task) {
  switch (task.work) {
    case gui::LayerWork::causal_test: return fmt::format("testing whether {} matters", task.node);
    case gui::LayerWork::reduce: return fmt::format("reducing {}", task.node);
    case gui::LayerWork::repro: break;
  }
  return fmt::format("making a report of {}", task.node);
}

}  // namespace

bool DesktopHost::examine(gui::LayerTask task) {
  std::string doing = doing_text(task);
  do_later(std::move(doing), [this, task = std::move(task)] { examine_now(task); });
  return true;
}

Result<gui::LayerWorkResult> DesktopHost::examined(const gui::LayerTask& task) {
  const std::shared_ptr<const gui::Snapshot> snapshot = feed()->snapshot;
  const gui::TargetColumn* column = nullptr;
  if (snapshot)
    for (const gui::TargetColumn& one : snapshot->targets)
      if (one.target == task.target) column = &one;
  if (column == nullptr || !column->tensors)
    return bad_input(
        fmt::format("{}: its recorded values are needed; open its trace file as well", task.target));
  const std::shared_ptr<const ModelFile> model =
      snapshot->model_sha256.empty() ? model_ : model_with(snapshot->model_sha256);
  if (!model)
    return bad_input(fmt::format("{}: its model is needed; open the .onnx file as well", task.target));
  ExaminedLayer wanted{.task = task,
                       .model = model.get(),
                       .tensors = column->tensors.get(),
                       .runner = options_,
                       .folder = folder_,
                       .stopped = [this] { return stopped_.load(); }};
  const std::string doing = doing_text(task);
  DRIFTSCOPE_TRY(const LayerFindings found,
                 examine_layer(wanted, [&](std::string_view step, std::int64_t done, std::int64_t total) {
                   const std::string count = total > 0 ? fmt::format(" ({} of {})", done, total) : "";
                   change([&](gui::Feed& feed) { feed.doing = fmt::format("{}: {}{}", doing, step, count); });
                 }));
  return gui::LayerWorkResult{.task = task,
                              .model_sha256 = snapshot->model_sha256,
                              .text = found.text,
                              .folder = found.folder.string()};
}

void DesktopHost::examine_now(const gui::LayerTask& task) {
  if (runner_) runner_->rest();  // its browser would be beside this one
  change([&](gui::Feed& feed) { feed.examining = task; });
  auto result = examined(task);
  const bool stopped = !result.ok() && result.error().kind == ErrorKind::cancelled;
  gui::LayerWorkResult shown =
      result.ok() ? *std::move(result)
                  : gui::LayerWorkResult{.task = task, .failed = true, .text = result.error().message};
  change([&](gui::Feed& feed) {
    feed.examining.reset();
    if (stopped) return;
    if (shown.failed && feed.snapshot) shown.model_sha256 = feed.snapshot->model_sha256;
    auto all = feed.examined ? *feed.examined : std::vector<gui::LayerWorkResult>();
    std::erase_if(all, [&](const gui::LayerWorkResult& one) { return one.task == task; });
    all.push_back(std::move(shown));
    feed.examined = std::make_shared<const std::vector<gui::LayerWorkResult>>(std::move(all));
  });
}

}  // namespace driftscope
