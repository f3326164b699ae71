// Documents of `compare --json` for the tests of walls, as small as the reader allows.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/json.hpp"
#include "core/base/sha256.hpp"
#include "core/wall/read_runs.hpp"
#include "core/wall/wall.hpp"

namespace driftscope::test {

struct StoredRun {
  std::string target = "chrome/ort-webgpu";
  std::string browser = "Chromium 156.0.8078.108";
  std::string date = "2026-11-30T03:08:16Z";
  std::string verdict = "rounding";  ///< "failed": it did not run
  std::string device = "GPU of the test";
  std::string version = "1.30.0";  ///< of the runtime
  std::string divergence = "conv1";
};

inline nlohmann::ordered_json stored_target(const StoredRun& run, bool left = false) {
  using Json = nlohmann::ordered_json;
  if (run.verdict == "failed") return {{"target", run.target}, {"error", "no <display>"}};
  Json layer = {{"node", "conv1"},      {"op", "Conv"},    {"output", "conv1.out"}, {"verdict", run.verdict},
                {"budget_used", 731.2}, {"max_abs", 0.25}, {"worst", nullptr}};
  const bool fault = run.verdict == "fault";
  Json target = {{"target", run.target}};
  target["verify"] = {{"format", "driftscope-verify-1"},
                      {"model_sha256", "aa"},
                      {"target", run.target},
                      {"verdict", run.verdict},
                      {"first_fault", fault ? Json("conv1") : Json(nullptr)},
                      {"layers", Json::array({layer})}};
  if (!left) {
    target["first_divergence"] = run.divergence.empty() ? Json(nullptr) : Json(run.divergence);
    target["layers"] = Json::array({{{"node", "conv1"}, {"output", "conv1.out"}, {"place", 1}}});
  }
  target["time"] = {{"ns", 1.5e6}, {"kind", "unwatched"}};
  target["ran"] = {{"engine", "x"}, {"start_time", run.date}};
  if (!run.browser.empty()) target["ran"]["browser_version"] = run.browser;
  if (!run.device.empty()) target["ran"]["device"] = run.device;
  if (!run.version.empty()) target["ran"]["options"] = {{"version", run.version}};
  return target;
}

/// A comparison of pc/strict with these.
inline nlohmann::ordered_json stored_comparison(const std::vector<StoredRun>& rights,
                                                const std::string& model = "net.onnx",
                                                const std::string& sha256 = std::string(64, 'a')) {
  const std::string date = rights.empty() ? "2026-11-30T03:08:16Z" : rights.front().date;
  nlohmann::ordered_json document = {{"format", "driftscope-compare-1"},
                                     {"headline", "x"},
                                     {"model", model},
                                     {"model_sha256", sha256},
                                     {"build", "1eb01241.403d0a85"},
                                     {"machine", {{"cpu", "A CPU"}, {"system", "Linux 6.18.44 x86_64"}}}};
  document["left"] = stored_target({.target = "pc/strict",
                                    .browser = "",
                                    .date = date,
                                    .verdict = "rounding",
                                    .device = "CPU",
                                    .version = "",
                                    .divergence = ""},
                                   true);
  document["right"] = nlohmann::ordered_json::array();
  for (const StoredRun& right : rights) document["right"].push_back(stored_target(right));
  return document;
}

/// As whoever reads a folder makes them.
inline wall::StoredFile stored_file(const std::string& name, const nlohmann::ordered_json& document) {
  const std::string text = json_text(document);
  wall::StoredFile file{
      .name = name, .digest = sha256_hex(std::as_bytes(std::span(text))), .runs = {}, .error = {}};
  auto runs = wall::read_runs(text, name, "2020-01-01T00:00:00Z");
  if (runs.ok())
    file.runs = *std::move(runs);
  else
    file.error = runs.error().message;
  return file;
}

/// A file for each: a comparison with that run alone.
inline wall::Wall wall_of(const std::vector<StoredRun>& runs) {
  std::vector<wall::StoredFile> files;
  for (std::size_t i = 0; i < runs.size(); ++i)
    files.push_back(stored_file("f" + std::to_string(i) + ".json", stored_comparison({runs[i]})));
  return wall::make_wall(std::move(files));
}

/// The history of a target in the first model, which must have one.
inline const wall::Series& series_of(const wall::Wall& wall, const std::string& target) {
  for (const wall::Series& one : wall.models.at(0).series)
    if (one.target == target) return one;
  return wall.models.at(0).series.at(0);
}

}  // namespace driftscope::test
