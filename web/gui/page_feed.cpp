#include "web/gui/page_feed.hpp"

#include <utility>

#include "core/base/json.hpp"
#include "core/gui/stored_targets.hpp"

namespace driftscope {
namespace {

using nlohmann::json;

constexpr double trend_confidence = 0.99;  // as `bench --history` judges

std::string text(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::int64_t whole(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

bool flag(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

std::vector<std::string> texts(const json& object, const char* key) {
  std::vector<std::string> list;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return list;
  for (const json& one : *found) list.push_back(one.is_string() ? one.get<std::string>() : std::string());
  return list;
}

template <class Each>
void for_each_object(const json& object, const char* key, const Each& each) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return;
  for (const json& one : *found)
    if (one.is_object()) each(one);
}

gui::TargetProgress::State state_of(const std::string& name) {
  using State = gui::TargetProgress::State;
  if (name == "running") return State::running;
  if (name == "done") return State::done;
  return name == "failed" ? State::failed : State::waiting;
}

gui::RunTrend trend_of(const json& series) {
  std::vector<BuildTimes> builds;
  std::vector<std::string> first_seen;
  for_each_object(series, "builds", [&](const json& one) {
    BuildTimes times{text(one, "build"), {}};
    if (const auto list = one.find("times_ns"); list != one.end() && list->is_array())
      for (const json& time : *list)
        if (time.is_number() && time.get<double>() > 0.0) times.medians_ns.push_back(time.get<double>());
    if (times.medians_ns.empty()) return;
    builds.push_back(std::move(times));
    first_seen.push_back(text(one, "first_seen"));
  });
  return gui::make_trend(text(series, "title"), text(series, "where"), builds, first_seen, trend_confidence);
}

}  // namespace

Result<gui::Feed> read_page_feed(std::string_view bytes) {
  const json object = parse_json(bytes);
  if (!object.is_object()) return bad_input("the page's feed is not a JSON object");
  gui::Feed feed;
  feed.models = texts(object, "models");
  feed.model = static_cast<std::size_t>(std::max<std::int64_t>(0, whole(object, "model")));
  feed.input = text(object, "input");
  feed.samples = whole(object, "samples");
  feed.sample = whole(object, "sample");
  feed.busy = flag(object, "busy");
  feed.doing = text(object, "doing");
  feed.error = text(object, "error");
  if (object.contains("history")) {
    auto history = std::make_shared<std::vector<gui::RunTrend>>();
    for_each_object(object, "history", [&](const json& one) { history->push_back(trend_of(one)); });
    feed.history = std::move(history);
  }
  feed.history_advice = "Each run on this page adds to it. It stays in this browser.";
  for_each_object(object, "targets", [&](const json& one) {
    feed.targets.push_back(
        {text(one, "target"), flag(one, "available"), text(one, "detail"), flag(one, "by_default")});
  });
  for_each_object(object, "progress", [&](const json& one) {
    feed.progress.push_back({text(one, "target"), state_of(text(one, "state")), text(one, "step"),
                             whole(one, "done"), whole(one, "total"), text(one, "error")});
  });
  return feed;
}

Result<gui::SnapshotParts> read_page_run(std::string_view bytes,
                                         std::vector<std::shared_ptr<const gui::RecordedTensors>> traces) {
  const json object = parse_json(bytes);
  if (!object.is_object()) return bad_input("the page's run is not a JSON object");
  gui::SnapshotParts parts;
  parts.title = text(object, "title");
  parts.model_sha256 = text(object, "model_sha256");
  parts.input_text = text(object, "input");
  parts.input_label = text(object, "label");
  parts.dataset_text = text(object, "dataset");
  parts.class_names = texts(object, "class_names");
  if (const auto topology = object.find("topology"); topology != object.end()) {
    DRIFTSCOPE_TRY(parts.topology, read_topology(topology->dump()));
  }
  for (auto& trace : traces) {
    gui::TargetParts target;
    target.target = trace->about().target.empty() ? "file/trace" : trace->about().target;
    target.tensors = std::move(trace);
    parts.targets.push_back(std::move(target));
  }
  if (const auto comparisons = object.find("comparisons");
      comparisons != object.end() && comparisons->is_array())
    for (const json& one : *comparisons) {
      DRIFTSCOPE_TRY(auto said, gui::read_stored_targets(json_text(one)));
      gui::merge_targets(parts.targets, std::move(said));
    }
  return parts;
}

std::string page_command(const char* what, std::int64_t number) {
  return json_text(json{{"do", what}, {"number", number}});
}

std::string run_command(const gui::RunChoice& choice) {
  json command = {{"do", "run"},
                  {"targets", choice.targets},
                  {"dataset", choice.dataset},
                  {"perturbation_check", choice.perturbation_check},
                  {"watch_memory", choice.watch_memory}};
  if (choice.repeat_check) command["repeat"] = gui::repeat_check_runs;
  return json_text(command);
}

ImGuiKey key_of_code(std::string_view code) {
  if (code.size() == 4 && code.substr(0, 3) == "Key" && code[3] >= 'A' && code[3] <= 'Z')
    return static_cast<ImGuiKey>(ImGuiKey_A + (code[3] - 'A'));
  if (code.size() == 6 && code.substr(0, 5) == "Digit" && code[5] >= '0' && code[5] <= '9')
    return static_cast<ImGuiKey>(ImGuiKey_0 + (code[5] - '0'));
  static constexpr std::pair<std::string_view, ImGuiKey> named[] = {{"ArrowDown", ImGuiKey_DownArrow},
                                                                    {"ArrowUp", ImGuiKey_UpArrow},
                                                                    {"ArrowLeft", ImGuiKey_LeftArrow},
                                                                    {"ArrowRight", ImGuiKey_RightArrow},
                                                                    {"Enter", ImGuiKey_Enter},
                                                                    {"NumpadEnter", ImGuiKey_KeypadEnter},
                                                                    {"Escape", ImGuiKey_Escape},
                                                                    {"Space", ImGuiKey_Space},
                                                                    {"Backspace", ImGuiKey_Backspace},
                                                                    {"Delete", ImGuiKey_Delete},
                                                                    {"Home", ImGuiKey_Home},
                                                                    {"End", ImGuiKey_End},
                                                                    {"PageUp", ImGuiKey_PageUp},
                                                                    {"PageDown", ImGuiKey_PageDown},
                                                                    {"BracketLeft", ImGuiKey_LeftBracket},
                                                                    {"BracketRight", ImGuiKey_RightBracket},
                                                                    {"Slash", ImGuiKey_Slash},
                                                                    {"Period", ImGuiKey_Period},
                                                                    {"Equal", ImGuiKey_Equal},
                                                                    {"Minus", ImGuiKey_Minus},
                                                                    {"Tab", ImGuiKey_Tab}};
  for (const auto& [name, key] : named)
    if (name == code) return key;
  return ImGuiKey_None;
}

}  // namespace driftscope
