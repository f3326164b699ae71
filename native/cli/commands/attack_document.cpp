#include "native/cli/commands/attack_document.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/attack/robustness.hpp"
#include "core/base/json.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace attack_document_parts {
namespace {

struct MeanDistances {
  double linf = 0.0;
  double l2 = 0.0;
  double changed = 0.0;  ///< elements
  std::int64_t successes = 0;
  std::int64_t queries = 0;
};

MeanDistances distances_of(const AttackReport& report, const AttackedTarget& target, bool words) {
  MeanDistances mean;
  for (std::size_t i = 0; i < target.outcomes.size(); ++i) {
    mean.queries += target.outcomes[i].queries;
    if (!target.outcomes[i].success) continue;
    ++mean.successes;
    for (std::size_t at = 0; at < report.originals[i].size(); ++at)
      mean.changed += report.originals[i][at] != target.outcomes[i].values[at] ? 1.0 : 0.0;
    if (words) continue;  // numbers of words have no distance
    mean.linf += linf_distance(report.originals[i], target.outcomes[i].values);
    mean.l2 += l2_distance(report.originals[i], target.outcomes[i].values);
  }
  const double count = std::max<double>(1.0, static_cast<double>(mean.successes));
  mean.linf /= count;
  mean.l2 /= count;
  mean.changed /= count;
  return mean;
}

double share_of(std::int64_t some, std::int64_t all) {
  return all == 0 ? 0.0 : static_cast<double>(some) / static_cast<double>(all);
}

std::string attack_name(const std::string& method, const std::optional<double>& epsilon) {
  return epsilon ? fmt::format("{} {}", method, *epsilon) : method;
}

AttackRates rates_of(const documents::Attack& document, std::string source) {
  AttackRates rates{document.model_sha256, attack_name(document.method, document.epsilon), std::move(source)};
  for (const documents::AttackResult& one : document.results) {
    rates.targets.push_back(one.target);
    rates.success.push_back(one.success_rate);
  }
  return rates;
}

}  // namespace
}  // namespace attack_document_parts

documents::Attack attack_document(const AttackPlan& plan, const std::string& dataset,
                                  const AttackReport& report) {
  documents::Attack document;
  document.model_sha256 = plan.model->sha256;
  document.method = plan.method->name;
  if (plan.method->needs_epsilon) document.epsilon = plan.epsilon;
  document.seed = static_cast<std::int64_t>(plan.seed);
  document.samples = std::ssize(report.samples);
  if (plan.method->needs_gradients)
    document.gradient = plan.white_box ? "white-box" : plan.gradient_target.text();
  document.in_8_bits = plan.in_8_bits;
  document.model = plan.model->name;
  document.dataset = dataset;
  document.numbers = report.samples;
  document.labels = report.labels;
  if (plan.method->replaces_words) document.words = true;
  document.all_steps = plan.all_steps;
  if (plan.as_published) document.as_published = std::string(plan.method->published_slip);
  for (const AttackedTarget& target : report.targets) {
    const auto mean = attack_document_parts::distances_of(report, target, plan.method->replaces_words);
    documents::AttackResult result;
    result.target = target.target;
    result.success_rate = attack_document_parts::share_of(mean.successes, std::ssize(report.samples));
    result.successes = mean.successes;
    result.queries = mean.queries;
    result.mean_linf = mean.linf;
    result.mean_l2 = mean.l2;
    result.mean_changed = mean.changed;
    result.correct = target.correct;
    for (std::size_t i = 0; i < target.outcomes.size(); ++i)
      if (target.outcomes[i].success) result.fooled.push_back(report.samples[i]);
    document.results.push_back(std::move(result));
  }
  for (const AttackedTarget& target : report.targets)
    document.answers.push_back({target.target, target.target, target.answers});
  for (const Transferred& one : report.transfer) {
    document.answers.push_back({one.from, one.to, one.answers});
    documents::AttackTransfer transfer;
    transfer.from = one.from;
    transfer.to = one.to;
    transfer.adversarials = one.adversarials;
    transfer.success_rate = attack_document_parts::share_of(one.fooled, one.adversarials);
    transfer.only_from = one.only_from;
    transfer.only_to = one.only_to;
    document.transfer.push_back(std::move(transfer));
  }
  for (const SeparatedAnswers& one : report.separations) {
    documents::AttackSeparation separation;
    separation.from = one.from;
    separation.to = one.to;
    separation.sample = one.sample;
    separation.class_from = one.class_from;
    separation.class_to = one.class_to;
    separation.beyond_rounding = one.layer.beyond_rounding;
    separation.node = one.layer.node;
    separation.op = one.layer.op;
    separation.output = one.layer.output;
    separation.verdict_from = one.layer.left;
    separation.verdict_to = one.layer.right;
    separation.moved = one.layer.moved;
    separation.moved_by_all = one.layer.moved_by_all;
    separation.reason = one.layer.reason;
    document.separations.push_back(std::move(separation));
  }
  return document;
}

Status add_robustness(std::span<const std::string> with, documents::Attack& document) {
  std::vector<AttackRates> all;
  for (const std::string& path : with) {
    DRIFTSCOPE_TRY(const auto bytes, read_file(path));
    const auto json = parse_ordered_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    documents::Attack other;
    if (json.is_discarded() || !json.is_object() || json.value("format", "") != "driftscope-attack-1")
      return bad_input(
          fmt::format("--with {}: expected a document of attack --json (driftscope-attack-1)", path));
    DRIFTSCOPE_CHECK(read_json(json, JsonPath(path), other));
    all.push_back(attack_document_parts::rates_of(other, path));
  }
  all.push_back(attack_document_parts::rates_of(document, "this run"));
  DRIFTSCOPE_TRY(const Robustness robustness, robustness_of(all));
  document.robustness_attacks = robustness.attacks;
  for (const RobustnessRow& row : robustness.rows) {
    documents::AttackRobustness one;
    one.model_sha256 = row.model_sha256;
    one.target = row.target;
    one.r = row.r;
    one.r_conversion = row.r_conversion;
    document.robustness.push_back(std::move(one));
  }
  return {};
}

}  // namespace driftscope
