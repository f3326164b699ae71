#include "core/checks/sarif.hpp"

#include <fmt/format.h>

#include <array>
#include <span>
#include <vector>

#include "core/base/format.hpp"
#include "core/base/json.hpp"
#include "core/base/sha256.hpp"

namespace driftscope {
namespace {

using Json = nlohmann::ordered_json;

struct Rule {
  std::string_view id;
  std::string_view means;
};

// In the words of --fail-on.
constexpr std::array rules = {
    Rule{"fault", "No rounding explains a layer's result."},
    Rule{"suspect", "Chance does not explain a layer's result."},
    Rule{"unjudged", "A layer could not be judged: it has no reference, or its budget is inconclusive."},
    Rule{"nonfinite", "An output of the model holds NaN or infinity."},
    Rule{"overflow", "A layer makes NaN or infinity of finite numbers."},
    Rule{"top1", "The best class is another one."},
    Rule{"bits", "Bits differ."},
    Rule{"unrepeatable", "A later run has other bits."},
    Rule{"growing", "Memory grows from run to run."},
    Rule{"slower", "A target takes longer, beyond the noise that was measured."},
    Rule{"run", "The target did not run."},
};

std::size_t rule_of(std::string_view kind) {
  for (std::size_t i = 0; i < rules.size(); ++i)
    if (rules[i].id == kind) return i;
  return rules.size() - 1;
}

/// RFC 3986: what a path may hold as it is.
std::string uri_of(std::string_view path) {
  std::string uri;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    if (plain)
      uri += c;
    else
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

bool has_failed(const CheckCase& one) {
  return one.outcome == CheckOutcome::failed || one.outcome == CheckOutcome::error;
}

/// A layer that is suspect or a fault where that does not count, and what could not be checked.
bool is_worth_saying(const CheckCase& one) {
  if (one.outcome == CheckOutcome::skipped) return !one.kind.empty();
  return one.outcome == CheckOutcome::passed && (one.kind == "fault" || one.kind == "suspect");
}

std::string_view level_of(const CheckCase& one) {
  if (has_failed(one)) return "error";
  return one.outcome == CheckOutcome::skipped ? "note" : "warning";
}

std::string fingerprint(const ComparisonView& view, const CheckCase& one) {
  const std::string text =
      fmt::format("{}\n{}\n{}\n{}", view.model_name, one.target, one.name, rules[rule_of(one.kind)].id);
  return sha256_hex(std::as_bytes(std::span(text)));
}

Json result_of(const ComparisonView& view, const CheckCase& one, const std::string& uri) {
  constexpr std::size_t longest_result = 4000;
  const std::size_t rule = rule_of(one.kind);
  const std::string text = fmt::format("{}: {}: {}", one.target, one.name, one.message);
  Json location;
  location["physicalLocation"]["artifactLocation"]["uri"] = uri;
  location["physicalLocation"]["region"]["startLine"] = 1;  // of a binary file; code hosts want one
  location["logicalLocations"] = {
      {{"name", one.name}, {"fullyQualifiedName", view.model_name + "/" + one.name}, {"kind", "member"}}};
  return {{"ruleId", rules[rule].id},
          {"ruleIndex", rule},
          {"level", level_of(one)},
          {"message", {{"text", elide(text, longest_result)}}},
          {"locations", Json::array({location})},
          {"partialFingerprints", {{"driftscope/v1", fingerprint(view, one)}}},
          {"properties", {{"target", one.target}}}};
}

Json rules_json() {
  Json list = Json::array();
  for (const Rule& rule : rules)
    list.push_back({{"id", rule.id}, {"shortDescription", {{"text", rule.means}}}});
  return list;
}

}  // namespace

std::string sarif_json(const CheckReport& checks, const ComparisonView& view, std::string_view model_path,
                       std::string_view version, std::size_t max_results) {
  std::vector<const CheckCase*> shown;
  const auto add = [&](const auto& belongs) {
    for (const CheckCase& one : checks.cases)
      if (shown.size() < max_results && belongs(one)) shown.push_back(&one);
  };
  add(has_failed);
  add(is_worth_saying);
  const std::string uri = uri_of(model_path);
  Json results = Json::array();
  for (const CheckCase* one : shown) results.push_back(result_of(view, *one, uri));
  Json driver = {{"name", "Driftscope"}, {"version", version}, {"rules", rules_json()}};
  Json run = {{"tool", {{"driver", std::move(driver)}}},
              {"invocations", Json::array({{{"executionSuccessful", checks.count(CheckOutcome::error) == 0},
                                            {"exitCodeDescription", headline(view)}}})},
              {"results", std::move(results)}};
  const Json document = {
      {"$schema",
       "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs", Json::array({std::move(run)})}};
  return json_text(document, 1) + "\n";
}

}  // namespace driftscope
