#include "core/results/verify_reader.hpp"

#include <fmt/format.h>

#include "core/verify/external_budgets.hpp"
#include "generated/documents/verify.hpp"

namespace driftscope {

Status read_layer(const nlohmann::ordered_json& value, const JsonPath& path, LayerVerdict& layer,
                  std::string& suite) {
  DRIFTSCOPE_CHECK(read_json(value, path, layer));
  JsonFields fields(value, path);
  if (fields.has("reason") && !fields.has("findings")) {  // of an earlier version
    std::string reason;
    fields.optional("reason", reason);
    if (!reason.empty()) layer.findings = {{.id = "stored.reason", .words = {{"text", std::move(reason)}}}};
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

Status read_verification(const nlohmann::ordered_json& value, const JsonPath& path,
                         Verification& verification) {
  DRIFTSCOPE_CHECK(read_json(value, path, verification));
  if (!verification.repeats) return {};
  for (const JudgedDifference& one : verification.repeats->different)
    verification.repeats->check.different.push_back(one.difference);
  return {};
}

}  // namespace driftscope
