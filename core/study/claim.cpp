#include "core/study/claim.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/study/study_view.hpp"

namespace driftscope {

const ClaimKind* ClaimTable::find(std::string_view name) const {
  const auto found = std::ranges::find(kinds_, name, &ClaimKind::name);
  return found == kinds_.end() ? nullptr : &*found;
}

std::string ClaimTable::names() const {
  std::vector<std::string_view> names;
  for (const ClaimKind& kind : kinds_) names.push_back(kind.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string_view claim_answer_text(ClaimAnswer answer) {
  switch (answer) {
    case ClaimAnswer::holds: return "holds here";
    case ClaimAnswer::fails: return "does not hold here";
    case ClaimAnswer::undecided: return "not decided";
    case ClaimAnswer::not_run: return "not run";
  }
  return "";
}

std::vector<ClaimCheck> check_claim(const StudyView& view, const documents::StudyClaim& claim) {
  std::vector<ClaimCheck> checks;
  const ClaimKind* const kind = claim_table().find(claim.kind);
  const auto& targets = view.targets();
  const auto left = static_cast<std::size_t>(std::ranges::find(targets, claim.left) - targets.begin());
  if (kind == nullptr || left == targets.size()) return checks;
  for (const std::string& model : claim.models)
    for (const std::string& host : claim.hosts)
      for (const std::size_t target : view.targets_on(host)) {
        const auto subject = view.subject(model, "");
        if ((target == left && !kind->of_left_too) || !subject) continue;
        ClaimCheck check = kind->check(view, claim, *subject, left, target);
        check.model = model;
        check.target = targets[target];
        checks.push_back(std::move(check));
      }
  return checks;
}

claims::Both claims::answers_of(const StudyView& view, std::size_t subject, std::size_t left,
                                std::size_t target) {
  Both both{view.answers(subject, 0, left), view.answers(subject, 0, target)};
  for (const Answers** one : {&both.left, &both.right})
    if (*one != nullptr && (*one)->samples() == 0) *one = nullptr;
  return both;
}

}  // namespace driftscope
