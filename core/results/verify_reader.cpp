#include "core/results/verify_reader.hpp"

#include <fmt/format.h>

#include "core/results/finding_json.hpp"
#include "core/results/metrics_json.hpp"
#include "core/verify/external_budgets.hpp"

namespace driftscope {
namespace {

using Json = nlohmann::ordered_json;

std::optional<BudgetMetric> budget_metric_named(std::string_view name) {
  for (const BudgetMetric metric : {BudgetMetric::ulp, BudgetMetric::absolute})
    if (budget_metric_name(metric) == name) return metric;
  return std::nullopt;
}

}  // namespace

// Beside those that json_fields.hpp declares: found by their arguments.
static Status read_json(const Json& value, const JsonPath& path, WorstElement& worst) {
  JsonFields fields(value, path);
  fields.required("index", worst.index);
  fields.required("got", worst.got);
  fields.required("want", worst.want);
  fields.required("budget", worst.budget);
  return std::move(fields).status();
}

static Status read_json(const Json& value, const JsonPath& path, ExternalBudget& external) {
  JsonFields fields(value, path);
  fields.required("operators", external.operators);
  fields.required_name("metric", external.metric, budget_metric_named);
  fields.required("budget", external.budget);
  fields.required("seen", external.seen);
  fields.required("within", external.within);
  return std::move(fields).status();
}

static Status read_json(const Json& value, const JsonPath& path, AgreeingRuns& group) {
  JsonFields fields(value, path);
  fields.required("first", group.first);
  fields.required("last", group.last);
  fields.required("runs", group.runs);
  return std::move(fields).status();
}

static Status read_json(const Json& value, const JsonPath& path, JudgedDifference& one) {
  JsonFields fields(value, path);
  RunDifference& difference = one.difference;
  fields.required("run", difference.run);
  fields.required("node", difference.node);
  fields.required("op", difference.op);
  fields.required("value", difference.value);
  fields.required("values", difference.values);
  fields.required("zero_signs", difference.zero_signs);
  if (fields.has("max_abs")) read_metrics(fields, MetricSource::verify, one.metrics.emplace());
  fields.required_name("verdict_first", one.first, verdict_named);
  fields.required_name("verdict", one.later, verdict_named);
  fields.optional("reason", difference.reason);
  return std::move(fields).status();
}

static Status read_json(const Json& value, const JsonPath& path, RepeatVerification& repeats) {
  JsonFields fields(value, path);
  fields.required("runs", repeats.check.runs);
  fields.required("values", repeats.check.values);
  fields.required("groups", repeats.check.groups);
  fields.required("different", repeats.different);
  fields.optional("more_groups", repeats.check.more_groups);
  for (const JudgedDifference& one : repeats.different) repeats.check.different.push_back(one.difference);
  return std::move(fields).status();
}

Status read_layer(const Json& value, const JsonPath& path, LayerVerdict& layer, std::string& suite) {
  JsonFields fields(value, path);
  fields.required("node", layer.node);
  fields.required("op", layer.op);
  fields.required("output", layer.output);
  fields.optional("shape", layer.shape);
  fields.optional("constant", layer.constant);
  fields.required_name("verdict", layer.verdict, verdict_named);
  read_metrics(fields, MetricSource::verify, layer);
  fields.optional("worst", layer.worst);
  fields.optional("group", layer.group);
  if (fields.has("findings")) {
    fields.optional("findings", layer.findings);
  } else if (fields.has("reason")) {  // of an earlier version
    std::string reason;
    fields.optional("reason", reason);
    layer.findings = {{.id = "stored.reason", .words = {{"text", std::move(reason)}}}};
  }
  for (const BudgetSuite* const one : budget_suites()) {
    if (!fields.has(one->name)) continue;
    if (suite.empty()) suite = one->name;
    if (suite == one->name) fields.optional(suite, layer.external);
  }
  if (fields.ok() && layer.shape.size() > max_rank)
    fields.fail(JsonPath(path, "shape")
                    .error(fmt::format("expected at most {} sizes, got {}", max_rank, layer.shape.size())));
  return std::move(fields).status();
}

Status read_json(const Json& value, const JsonPath& path, Verification& verification) {
  JsonFields fields(value, path);
  fields.optional("model_sha256", verification.model_sha256);
  fields.optional("target", verification.target);
  fields.required_name("verdict", verification.verdict, verdict_named);
  fields.optional("first_fault", verification.first_fault);
  fields.optional("repeat_check", verification.repeats);
  fields.optional("names", verification.names);
  return std::move(fields).status();
}

}  // namespace driftscope
