#include "native/cli/conformance_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/json.hpp"
#include "core/base/sha256.hpp"
#include "core/base/text.hpp"
#include "core/runtime/engine.hpp"
#include "core/verify/expectation.hpp"
#include "native/cli/result_store.hpp"

namespace driftscope {
namespace {

using nlohmann::json;

constexpr std::size_t sha256_digits = 64;

std::string hash_of(std::string_view text) { return sha256_hex(std::as_bytes(std::span(text))); }

void append_tensor(const Tensor& tensor, std::string& text) {
  text += fmt::format("{} {} {}\n", dtype_name(tensor.dtype()), shape_text(tensor.shape()),
                      sha256_hex(tensor.bytes()));
}

CaseResult from_error(const Error& error) {
  return {error.kind == ErrorKind::unsupported ? Outcome::unsupported : Outcome::failed,
          error.message,
          {},
          {},
          {}};
}

/// `outputs`: what it gave, as text.
void verify_set(const Result<Trace>& trace, const ConformanceSet& set, CaseResult& result,
                std::string& outputs) {
  if (result.outcome != Outcome::passed) return;
  if (!trace.ok()) {
    result = from_error(trace.error());
    return;
  }
  for (const NamedTensor& wanted : set.wanted) {
    const Tensor* got = trace->find(wanted.name);
    const auto wrong =
        got == nullptr ? std::optional<std::string>("it was not made") : disagreement(*got, wanted.tensor);
    if (wrong) {
      result.outcome = Outcome::failed;
      result.reason = fmt::format("output {}: {}", wanted.name, *wrong);
      return;
    }
    append_tensor(*got, outputs);
  }
}

json result_json(const CaseResult& result) {
  json object = {{"outcome", outcome_name(result.outcome)}};
  if (result.outcome == Outcome::passed) object["outputs_sha256"] = result.outputs_sha256;
  if (!result.reason.empty()) object["reason"] = result.reason;
  if (!result.lost_before.empty()) object["lost_before"] = result.lost_before;
  return object;
}

Result<CaseResult> read_result(const CampaignCell& cell, const std::string& text) {
  const json object = parse_json(text);
  CaseResult result;
  bool known = object.is_object();
  const auto read = [&](const char* key, std::string& into) {
    const auto found = known ? object.find(key) : object.end();
    if (!known || found == object.end()) return;
    known = found->is_string();
    if (known) into = found->get<std::string>();
  };
  std::string outcome;
  read("outcome", outcome);
  read("outputs_sha256", result.outputs_sha256);
  read("reason", result.reason);
  read("lost_before", result.lost_before);
  const auto name = std::ranges::find(outcome_names, outcome);
  if (known && name != outcome_names.end()) {
    result.outcome = static_cast<Outcome>(name - outcome_names.begin());
    if (result.outcome != Outcome::passed || result.outputs_sha256.size() == sha256_digits) return result;
  }
  return bad_input(
      fmt::format("--store: the result of {} on {} is damaged: expected \"outcome\", one of {}, and of a "
                  "case that passed \"outputs_sha256\"; remove its line to have the case run again",
                  in_quotes(cell.item), in_quotes(cell.target), fmt::join(outcome_names, ", ")));
}

/// Of these cases those whose last run is among the first `runs`, when each has had so many by its end.
std::int64_t finished_cases(const std::vector<std::int64_t>& ends, std::int64_t runs) {
  return std::ranges::upper_bound(ends, runs) - ends.begin();
}

/// These cases on one target, in the order of `items`.
Result<std::vector<json>> check_cases(TargetRunner& runner, const Target& target,
                                      const std::vector<ConformanceCase>& cases,
                                      std::span<const std::int64_t> items, const TargetProgress& progress) {
  messages::RunPlan outputs_only;
  outputs_only.capture = messages::Capture::outputs;
  std::vector<RunRequest> requests;
  std::vector<std::int64_t> ends;  // runs at the end of each case: it has several, or none
  for (const std::int64_t item : items) {
    const ConformanceCase& one = cases[static_cast<std::size_t>(item)];
    if (!one.unusable)
      for (const ConformanceSet& set : one.sets)
        requests.push_back({.model = &one.model, .inputs = set.inputs, .plan = outputs_only});
    ends.push_back(std::ssize(requests));
  }
  DRIFTSCOPE_TRY(
      const std::vector<CaseRun> runs,
      runner.run_all(target, requests, [&](std::string_view step, std::int64_t done, std::int64_t) {
        progress(step, finished_cases(ends, done), std::ssize(items));
      }));
  std::vector<json> results;
  std::size_t next = 0;
  for (const std::int64_t item : items) {
    const ConformanceCase& one = cases[static_cast<std::size_t>(item)];
    CaseResult result;
    std::string outputs;
    if (one.unusable) result = from_error(*one.unusable);
    for (std::size_t set = 0; set < one.sets.size() && !one.unusable; ++set) {
      const CaseRun& run = runs[next++];
      verify_set(run.trace, one.sets[set], result, outputs);
      if (run.lost_before) result.lost_before = run.lost_before->message;
    }
    result.outputs_sha256 = hash_of(outputs);
    results.push_back(result_json(result));
  }
  return results;
}

// The same bits on every host; results of other engines depend on the processor.
bool promises_bits(std::string_view engine) {
  const auto found = find_engine(engine);
  return found.ok() && (*found)->info().same_bits_everywhere;
}

/// Of a target that is given twice each has results of its own.
std::vector<std::string> names_of(const std::vector<Target>& targets, std::vector<std::string> names) {
  if (names.empty())
    for (const Target& target : targets) names.push_back(target.text());
  std::map<std::string, int> seen;
  for (std::string& name : names)
    if (const int number = ++seen[name]; number > 1) name += fmt::format(" #{}", number);
  return names;
}

std::string name_of(const ConformanceCase& one) { return one.family + "/" + one.name; }

}  // namespace

json conformance_fields(const std::vector<ConformanceCase>& cases) {
  std::string text;
  for (const ConformanceCase& one : cases) {
    text += fmt::format("{} {}\n", name_of(one), one.unusable ? one.unusable->message : "");
    text += hashes_of(one.model);
    for (const ConformanceSet& set : one.sets)
      text += "inputs\n" + hashes_of(set.inputs) + "outputs\n" + hashes_of(set.wanted);
  }
  return {{"cases", cases.size()}, {"cases_sha256", hash_of(text)}};
}

Result<std::vector<TargetResults>> run_conformance_cases(TargetRunner& runner,
                                                         const std::vector<Target>& targets,
                                                         const std::vector<ConformanceCase>& cases,
                                                         const ConformanceKept& kept,
                                                         const ConformanceProgress& progress) {
  Campaign campaign;
  campaign.targets = names_of(targets, kept.names);
  campaign.items = std::ssize(cases);
  campaign.name_of = [&](std::int64_t item) { return name_of(cases[static_cast<std::size_t>(item)]); };
  campaign.batch_seconds = kept.batch_seconds;
  campaign.seconds = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  CampaignStep step;
  campaign.check = [&](std::size_t target, std::span<const std::int64_t> items) {
    return check_cases(runner, targets[target], cases, items,
                       [&](std::string_view name, std::int64_t done, std::int64_t total) {
                         progress(targets[target], step, name, done, total);
                       });
  };
  DRIFTSCOPE_TRY(const CampaignOutcome outcome,
                 run_campaign(campaign, kept.store, [&](const CampaignStep& next) { step = next; }));
  std::vector<TargetResults> all;
  for (std::size_t t = 0; t < targets.size(); ++t) {
    TargetResults& results = all.emplace_back(TargetResults{targets[t], outcome.errors[t], {}});
    for (std::int64_t i = 0; i < *campaign.items && !results.error; ++i) {
      const CampaignCell cell = cell_of(campaign, t, i);
      DRIFTSCOPE_TRY(CaseResult result, read_result(cell, kept.store.results().at(cell)));
      results.cases.push_back(std::move(result));
    }
  }
  return all;
}

void compare_bits(std::vector<TargetResults>& all) {
  for (std::size_t t = 1; t < all.size(); ++t) {
    if (!promises_bits(all[t].target.engine)) continue;
    const auto first = std::find_if(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(t),
                                    [&](const TargetResults& other) {
                                      return !other.error && other.target.engine == all[t].target.engine;
                                    });
    if (first == all.begin() + static_cast<std::ptrdiff_t>(t) || all[t].error) continue;
    for (std::size_t i = 0; i < all[t].cases.size(); ++i)
      if (all[t].cases[i].outcome == Outcome::passed && first->cases[i].outcome == Outcome::passed)
        all[t].cases[i].same_bits = all[t].cases[i].outputs_sha256 == first->cases[i].outputs_sha256;
  }
}

}  // namespace driftscope
