#include "core/matrix/matrix_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/json.hpp"
#include "core/base/json_keys.hpp"
#include "core/base/text.hpp"
#include "core/runtime/target.hpp"

namespace driftscope {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view current = "driftscope-matrix-1";
constexpr std::size_t most_targets = 10'000;

/// A matrix in which every field is there: its keys are those that exist.
documents::Matrix complete() {
  documents::Matrix matrix;
  documents::MatrixModel& model = matrix.models.emplace_back();
  model.path = model.name = "x";
  model.input = {"x"};
  documents::MatrixData& data = matrix.data.emplace_back();
  data.name = data.dataset = "x";
  data.input = data.models = {"x"};
  documents::MatrixChoice& choice = matrix.exclude.emplace_back();
  choice.models = choice.data = choice.targets = {"x"};
  matrix.title = matrix.left = "x";
  matrix.targets = matrix.hosts = matrix.engines = {"x"};
  documents::MatrixRun& run = matrix.run.emplace();
  run.repeat = run.repeat_check = run.memory_runs = run.timeout = run.cell_seconds = 1;
  run.times = 1.0;
  run.trace = run.fail_on = "x";
  return matrix;
}

/// A text becomes an object with this key; an input a list of one.
void widen(ordered_json& document, const char* list, const char* key, bool in_list) {
  const auto found = document.find(list);
  if (found == document.end() || !found->is_array()) return;
  for (ordered_json& one : *found) {
    if (one.is_string()) one = ordered_json{{key, in_list ? ordered_json::array({one}) : ordered_json(one)}};
    if (!one.is_object()) continue;
    const auto input = one.find("input");
    if (input != one.end() && input->is_string()) *input = ordered_json::array({*input});
  }
}

Status check_limits(const documents::MatrixRun& run) {
  const auto check = [](const char* name, std::optional<std::int64_t> value, std::int64_t least,
                        std::int64_t most) -> Status {
    if (!value || (*value >= least && *value <= most)) return {};
    return bad_input(fmt::format("run.{}: expected {} to {}, got {}", name, least, most, *value));
  };
  constexpr std::int64_t day = 86'400, most_runs = 100'000;
  DRIFTSCOPE_CHECK(check("repeat", run.repeat, 1, most_runs));
  DRIFTSCOPE_CHECK(check("repeat_check", run.repeat_check, 0, most_runs));
  DRIFTSCOPE_CHECK(check("memory_runs", run.memory_runs, 0, most_runs));
  DRIFTSCOPE_CHECK(check("timeout", run.timeout, 1, day));
  DRIFTSCOPE_CHECK(check("cell_seconds", run.cell_seconds, 1, day));
  if (run.times && !(*run.times >= 0.0 && *run.times <= 3600.0))
    return bad_input(fmt::format("run.times: expected 0 to 3600 seconds, got {}", *run.times));
  return {};
}

Status check_data(const std::vector<documents::MatrixData>& data) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data[i].input.empty() && data[i].dataset.empty())
      return bad_input(fmt::format("data[{}]: expected an input, or a dataset", i));
    if (!names.insert(name_of(data[i])).second)
      return bad_input(fmt::format("data[{}].name: {} is there twice", i, in_quotes(name_of(data[i]))));
  }
  return {};
}

}  // namespace

std::string name_of(const documents::MatrixData& data) {
  if (!data.name.empty()) return data.name;
  return data.input.empty() ? data.dataset : fmt::format("{}", fmt::join(data.input, " "));
}

Result<std::vector<std::string>> targets_of(const documents::Matrix& matrix) {
  if (matrix.hosts.empty() != matrix.engines.empty())
    return bad_input(matrix.hosts.empty() ? "hosts: expected with engines, which run on them"
                                          : "engines: expected with hosts, on which they run");
  if (matrix.hosts.size() > most_targets / std::max<std::size_t>(1, matrix.engines.size()))
    return limit_error(fmt::format("hosts: more than {} targets", most_targets));
  std::vector<std::pair<std::string, std::string>> all;  // where it stands, the target
  for (std::size_t i = 0; i < matrix.targets.size(); ++i)
    all.emplace_back(fmt::format("targets[{}]", i), matrix.targets[i]);
  for (std::size_t h = 0; h < matrix.hosts.size(); ++h)
    for (std::size_t e = 0; e < matrix.engines.size(); ++e)
      all.emplace_back(fmt::format("hosts[{}] with engines[{}]", h, e),
                       matrix.hosts[h] + "/" + matrix.engines[e]);
  std::vector<std::string> targets;
  std::set<std::string> known;
  for (const auto& [where, text] : all) {
    const auto target = parse_target(text);
    if (!target.ok()) return in_context(target.error(), where);
    if (target->host == "file") return bad_input(where + ": a matrix runs models; expected no trace");
    if (known.insert(target->text()).second) targets.push_back(target->text());
  }
  if (targets.empty()) return bad_input("targets: expected at least one, or hosts and engines");
  return targets;
}

Result<documents::Matrix> read_matrix(ordered_json document) {
  if (!document.is_object()) return bad_input("expected an object with format, models and targets");
  const auto format = document.find("format");
  if (format == document.end() || *format != current)
    return bad_input(fmt::format("format: expected {}, got {}", current,
                                 format == document.end() ? "none" : json_text(*format)));
  widen(document, "models", "path", false);
  widen(document, "data", "input", true);
  ordered_json known = encode(complete());
  known["format"] = current;
  DRIFTSCOPE_CHECK(check_keys(document, known));
  documents::Matrix matrix;
  DRIFTSCOPE_CHECK(read_json(document, JsonPath(), matrix));
  if (matrix.models.empty()) return bad_input("models: expected at least one");
  if (matrix.data.empty()) matrix.data.push_back({.name = {}, .input = {default_matrix_data}});
  DRIFTSCOPE_CHECK(check_data(matrix.data));
  if (!matrix.run) matrix.run.emplace();
  DRIFTSCOPE_CHECK(check_limits(*matrix.run));
  DRIFTSCOPE_TRY(const auto targets, targets_of(matrix));
  if (!matrix.left.empty()) {
    const auto left = parse_target(matrix.left);
    if (!left.ok()) return in_context(left.error(), "left");
  }
  return matrix;
}

}  // namespace driftscope
