#include "core/wall/read_runs.hpp"

#include <algorithm>
#include <array>

#include "core/base/json.hpp"
#include "core/results/comparison_reader.hpp"
#include "core/wall/version.hpp"

namespace driftscope::wall {
namespace {

constexpr std::size_t most_text = 400;     // of one fact: pages show less
constexpr std::size_t most_reason = 4000;  // of an error

std::string cut(std::string text, std::size_t most = most_text) {
  if (text.size() > most) text.resize(most);
  return text;
}

std::string text_of(const nlohmann::json& object, std::string_view key) { return cut(text_at(object, key)); }

/// "2026-11-30T03:08:16Z" of a text that begins so; dates are compared as texts.
std::string date_of(const std::string& text) {
  constexpr std::string_view form = "dddd-dd-ddTdd:dd:dd";
  if (text.size() < form.size()) return {};
  for (std::size_t i = 0; i < form.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (form[i] == 'd' ? !digit : text[i] != form[i]) return {};
  }
  return text.substr(0, form.size()) + "Z";
}

/// Of a browser elsewhere: the machine of the document is another one.
std::string system_of_browser(const std::string& user_agent) {
  struct Word {
    std::string_view in_agent, name;
  };
  // Android's agents also say Linux, an iPhone's also Mac OS X.
  constexpr std::array<Word, 7> words = {{{"iPhone", "iOS"},
                                          {"iPad", "iOS"},
                                          {"Android", "Android"},
                                          {"CrOS", "ChromeOS"},
                                          {"Windows", "Windows"},
                                          {"Mac OS X", "macOS"},
                                          {"Linux", "Linux"}}};
  const auto found = std::ranges::find_if(
      words, [&](const Word& word) { return user_agent.find(word.in_agent) != std::string::npos; });
  return found == words.end() ? std::string() : std::string(found->name);
}

/// "Linux x86_64" of "Linux 6.18.44 x86_64": the first word and the last.
std::string without_release(const std::string& system) {
  const std::size_t first = system.find(' ');
  const std::size_t last = system.rfind(' ');
  return first == std::string::npos ? system : system.substr(0, first) + system.substr(last);
}

void read_system(Run& run, const nlohmann::json& machine, const nlohmann::json& ran) {
  const bool elsewhere = run.host.starts_with("remote:") || run.host.starts_with("webdriver:");
  if (elsewhere) {
    run.system = run.system_name = system_of_browser(text_of(ran, "user_agent"));
    return;
  }
  run.processor = text_of(machine, "cpu");
  run.system = text_of(machine, "system");
  const std::string platform = text_of(ran, "platform");
  if (run.system.empty() && platform != "wasm32") run.system = platform;
  run.system_name = without_release(run.system);
}

void read_facts(Run& run, const nlohmann::json& ran) {
  run.facts = true;
  run.browser = text_of(ran, "browser_version");
  if (run.browser.empty()) run.browser = text_of(ran, "browser");
  run.instruction_set = text_of(ran, "instruction_set");
  run.date = date_of(text_of(ran, "start_time"));
  const std::string device = text_of(ran, "device");
  if (device != "CPU") run.device = device;
  const auto options = ran.find("options");
  if (options == ran.end()) return;
  run.driver = text_of(*options, "driver");
  const std::string version = text_of(*options, "version");
  if (!version_numbers(version).empty()) run.runtime = run.engine + " " + version;
}

void read_target(Run& run, const std::string& target) {
  run.target = cut(target);
  const std::size_t slash = run.target.find('/');
  run.host = run.target.substr(0, slash);
  if (slash == std::string::npos) return;
  const std::string rest = run.target.substr(slash + 1);
  const std::size_t colon = rest.find(':');
  run.engine = rest.substr(0, colon);
  if (colon != std::string::npos) run.options = rest.substr(colon + 1);
}

State state_named_as(Verdict verdict) {
  const auto found = std::ranges::find_if(
      state_rows, [&](const StateRow& row) { return row.name == verdict_name(verdict); });
  return found == state_rows.end() ? State::missing : found->state;
}

/// As verify judges it; without a differing bit a target is identical to the left one, however both round.
State state_of(const TargetResult& result) {
  if (!did_run(result) || (result.error && !result.verification)) return State::failed;
  const bool same_bits =
      result.comparison && !result.comparison->first_divergence && !result.comparison->layers.empty();
  const Verdict verdict = result.verification ? result.verification->verdict : Verdict::missing;
  if (concern_of(verdict) != Concern::none) return state_named_as(verdict);
  if (same_bits) return State::identical;
  return result.comparison && verdict == Verdict::identical ? State::rounding : state_named_as(verdict);
}

std::optional<BadLayer> bad_layer(const TargetResult& result) {
  if (!result.verification) return std::nullopt;
  const auto& layers = result.verification->layers;
  auto found = std::ranges::find(layers, Verdict::fault, &LayerVerdict::verdict);
  if (found == layers.end()) found = std::ranges::find(layers, Verdict::suspect, &LayerVerdict::verdict);
  if (found == layers.end()) return std::nullopt;
  return BadLayer{cut(found->node), cut(found->op), found->metrics.max_abs, found->budget_used};
}

void read_results(Run& run, const TargetResult& result) {
  run.state = state_of(result);
  if (result.error) run.error = cut(result.error->message, most_reason);
  run.bad = bad_layer(result);
  if (result.comparison) {
    run.first_divergence = cut(result.comparison->first_divergence.value_or(""));
    run.same_answer = same_answer(result.comparison->output);
    run.peak_bytes = result.comparison->peak_bytes;
    run.peak_kind = cut(result.comparison->peak_kind);
  }
  if (did_run(result)) run.time = run_time(result);
  if (!result.trace) return;
  const MemoryRecord peak = peak_memory(*result.trace);
  if (peak.bytes > 0) {
    run.peak_bytes = peak.bytes;
    run.peak_kind = cut(peak.kind);
  }
}

/// A target that did not run began when the others did; where none has a date, that of the file is better
/// than to be taken for the oldest.
void date_the_rest(std::vector<Run>& runs, const std::string& written) {
  std::string known;
  for (const Run& run : runs) known = std::max(known, run.date);
  for (Run& run : runs) {
    if (!run.date.empty()) continue;
    run.date_of_file = known.empty();
    run.date = known.empty() ? written : known;
  }
}

}  // namespace

bool may_be_comparison(std::string_view start) {
  constexpr std::string_view ours = "\"driftscope-";
  const std::size_t found = start.substr(0, looked_at).find(ours);
  // The first of them: a comparison has verifications inside, other documents have comparisons.
  return found != std::string_view::npos && start.substr(found + ours.size()).starts_with("compare-");
}

Result<std::vector<Run>> read_runs(std::string_view json, const std::string& name,
                                   const std::string& written) {
  DRIFTSCOPE_TRY(const ComparisonView view, read_comparison(json));
  const nlohmann::json machine = parse_json(view.machine);
  std::vector<Run> runs;
  const auto add = [&](const TargetResult& result, const std::string& left) {
    Run& run = runs.emplace_back();
    run.file = name;
    run.model = cut(view.model_name);
    run.model_sha256 = cut(view.model_sha256);
    run.build = cut(view.build);
    run.input = cut(view.dataset_text.empty() ? view.input_text : view.dataset_text);
    run.left = cut(left);
    read_target(run, result.target);
    const nlohmann::json ran = result.trace ? parse_json(result.trace->run) : nlohmann::json::object();
    if (result.trace && ran.is_object()) read_facts(run, ran);
    read_system(run, machine, ran);
    read_results(run, result);
  };
  add(view.left, "");
  for (const TargetResult& right : view.right) add(right, view.left.target);
  date_the_rest(runs, written);
  return runs;
}

}  // namespace driftscope::wall
