#include "core/deploy/deploy_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "core/base/format.hpp"

namespace driftscope {
namespace {

constexpr std::array by_severity = {DeploySeverity::error, DeploySeverity::warning, DeploySeverity::note};

std::string severity_title(DeploySeverity severity, std::size_t count) {
  constexpr std::string_view titles[] = {"does not work", "works badly", "worth knowing"};
  return fmt::format("{} ({})\n", titles[static_cast<std::size_t>(severity)], count);
}

std::string finding_lines(const DeployFinding& finding) {
  std::string text = fmt::format("  {}: {}\n", finding.check, plain_text(finding.shows, whole_text));
  std::string where = plain_text(finding.where, whole_text);
  if (finding.count > 1) where += fmt::format(" and {} more", finding.count - 1);
  if (!where.empty()) text += fmt::format("    where: {}\n", where);
  if (!finding.targets.empty()) text += fmt::format("    targets: {}\n", fmt::join(finding.targets, ", "));
  text += fmt::format("    why: {}\n", plain_text(finding.why, whole_text));
  if (!finding.fix.empty()) text += fmt::format("    fix: {}\n", plain_text(finding.fix, whole_text));
  return text;
}

}  // namespace

std::string_view severity_name(DeploySeverity severity) {
  switch (severity) {
    case DeploySeverity::error: return "error";
    case DeploySeverity::warning: return "warning";
    case DeploySeverity::note: return "note";
  }
  return "";
}

bool DeployContext::in_browsers() const {
  return page != nullptr || std::ranges::any_of(targets, &DeployTarget::in_browser);
}

const DeployCheck* DeployCheckTable::find(std::string_view name) const {
  const auto found = std::ranges::find(checks_, name, &DeployCheck::name);
  return found == checks_.end() ? nullptr : &*found;
}

std::vector<DeployFinding> check_deployment(const DeployContext& context) {
  std::vector<DeployFinding> found;
  for (const DeployCheck& check : deploy_check_table().all()) {
    if (check.of_model ? context.model == nullptr : context.page == nullptr) continue;
    for (DeployFinding& finding : check.find(context)) {
      finding.check = check.name;
      found.push_back(std::move(finding));
    }
  }
  std::vector<DeployFinding> all;
  for (const DeploySeverity severity : by_severity)
    std::ranges::copy_if(found, std::back_inserter(all),
                         [severity](const DeployFinding& finding) { return finding.severity == severity; });
  return all;
}

std::string deployment_text(std::span<const DeployFinding> findings) {
  if (findings.empty()) return "deployment: no findings\n";
  std::string text;
  for (const DeploySeverity severity : by_severity) {
    const auto count = std::ranges::count(findings, severity, &DeployFinding::severity);
    if (count == 0) continue;
    if (!text.empty()) text += '\n';
    text += severity_title(severity, static_cast<std::size_t>(count));
    for (const DeployFinding& finding : findings)
      if (finding.severity == severity) text += finding_lines(finding);
  }
  return text;
}

}  // namespace driftscope
