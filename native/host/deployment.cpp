#include "native/host/deployment.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/base/text.hpp"
#include "core/graph/load_constants.hpp"
#include "core/inputs/input_sizes.hpp"
#include "core/runtime/resolve_target.hpp"
#include "native/host/targets.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

std::vector<std::string> usual_targets() {
  std::vector<std::string> targets = {default_target()};
  for (const auto& engine : engines())
    if (engine->info().kind == EngineKind::own && engine->info().in_browsers)
      targets.push_back("chrome/" + engine->name());
  return targets;
}

std::shared_ptr<const ModelSource> source_for_runtimes(const ModelFile& file) {
  auto source = std::make_shared<ModelSource>();
  source->model = file.bytes;
  for (const JobAttachment& attachment : file.attachments)
    source->files.push_back({attachment.location, attachment.bytes});
  return source;
}

/// What the runtime says against the model; nothing if it takes it.
std::optional<std::string> refusal_of(const DeployTarget& target, const ModelFile& file, const Graph& bound) {
  const auto parsed = parse_target(target.name);
  if (!parsed.ok()) return parsed.error().message;
  auto resolved = resolve_target(*parsed);
  if (!resolved.ok()) return resolved.error().message;
  resolved->options.source = source_for_runtimes(file);
  const auto graph = std::make_shared<Graph>(bound);
  if (!target.engine->reads_deferred()) load_constants(*graph);
  const auto session = target.engine->prepare(graph, resolved->options);
  return session.ok() ? std::nullopt : std::optional(session.error().message);
}

}  // namespace

Result<std::vector<DeployTarget>> deploy_targets(const std::vector<std::string>& lists) {
  DRIFTSCOPE_TRY(const std::vector<Target> targets, read_targets(lists.empty() ? usual_targets() : lists));
  std::vector<DeployTarget> result;
  for (const Target& target : targets) {
    if (target.host == "file")
      return bad_input(
          fmt::format("--targets: {} is a recorded trace, and no place where a model runs; expected "
                      "host/engine, as chrome/strict",
                      in_quotes(target.text())));
    DRIFTSCOPE_TRY(const Engine* const engine, find_engine(target.engine));
    result.push_back({.name = target.text(), .host = target.host, .engine = engine});
  }
  return result;
}

Result<DeployModel> deploy_model(const std::filesystem::path& path, const ModelExamination& examination,
                                 std::span<const std::string> sizes) {
  DeployModel model{.name = path.filename().string(), .graph = *examination.graph};
  DRIFTSCOPE_TRY(const Graph sized, with_input_sizes(model.graph, sizes));
  auto found = find_sizes(sized, path.string());
  if (found.ok())
    model.sizes = *std::move(found);
  else
    model.no_sizes = found.error().message;
  model.file_bytes = examination.file_bytes;
  for (const auto& [location, problem] : examination.external) model.external.push_back({location, problem});
  const auto description = std::filesystem::path(path).replace_extension(".preprocess.json");
  model.preprocess_name = description.filename().string();
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::symlink_status(description, ignored))) return model;
  const auto bytes = read_inside(description.parent_path(), description.filename());
  // What cannot be read is no JSON either: the check says so.
  model.preprocess_json =
      bytes.ok() ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()) : std::string();
  return model;
}

void ask_runtimes(const std::filesystem::path& path, const DeployModel& model,
                  std::span<DeployTarget> targets) {
  std::optional<ModelFile> file;
  for (DeployTarget& target : targets) {
    if (target.host != "pc" || target.engine->info().kind != EngineKind::peer) continue;
    if (!target.engine->available().ok || !model.sizes) continue;
    if (!file) {
      auto loaded = load_model_file(path, Weights::deferred);
      if (!loaded.ok()) return;  // the examination has the reason
      file = *std::move(loaded);
    }
    target.refusal = refusal_of(target, *file, model.sizes->bound);
  }
}

}  // namespace driftscope
