#include "core/results/headline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

namespace driftscope {
namespace {

using Outcomes = std::span<const TargetOutcome>;

/// "a", "a and b", "a, b and c", "5 targets".
std::string name_list(const std::vector<std::string>& names) {
  constexpr std::size_t max_names = 3;
  if (names.size() > max_names) return fmt::format("{} targets", names.size());
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

std::string counted(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// The parts of the sentence, in order.
class Sentence {
 public:
  void add(const std::string& part) {
    if (!part.empty()) text_ += (text_.empty() ? "" : "; ") + part;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// "fault at conv1 on a and b" for each place where it happens; `at` says where a target has it.
template <class At>
void add_places(Sentence& sentence, Outcomes outcomes, const char* what, const At& at) {
  std::vector<std::string> places;
  std::map<std::string, std::vector<std::string>> targets;
  for (const TargetOutcome& one : outcomes) {
    const std::string place = at(one);
    if (place.empty()) continue;
    if (!targets.contains(place)) places.push_back(place);
    targets[place].push_back(one.target);
  }
  for (const std::string& place : places)
    sentence.add(fmt::format("{}{} on {}", what, place, name_list(targets[place])));
}

bool is_bad(const TargetOutcome& one) { return !one.first_fault.empty() || !one.first_suspect.empty(); }

std::string place_of_suspect(const TargetOutcome& one) {
  return one.first_fault.empty() ? one.first_suspect : std::string();
}

std::string layers_not_judged(const TargetOutcome& one) {
  if (one.unjudged == 0) return {};
  return fmt::format("{} not judged", counted(static_cast<std::size_t>(one.unjudged), "layer"));
}

/// Those that answer as the left target, and how far they are from it.
std::string agreement_text(Outcomes outcomes) {
  std::vector<std::string> same;
  std::vector<std::string> rounding;
  std::size_t others = 0;
  for (const TargetOutcome& one : outcomes.subspan(1)) {
    if (one.failed || !one.compared || is_bad(one)) {
      ++others;
    } else if (!one.differs) {
      same.push_back(one.target);
    } else if (!one.unverified && one.verdict != Verdict::missing &&
               concern_of(one.verdict) == Concern::none) {
      rounding.push_back(one.target);
    }
  }
  const std::size_t all = same.size() + rounding.size();
  if (all == 0) return {};
  const std::string who =
      all == 1 ? (same.empty() ? rounding : same).front() : counted(all, others > 0 ? "other" : "target");
  std::string text = fmt::format("{} agree{} with {} ", who, all == 1 ? "s" : "", outcomes[0].target);
  if (rounding.empty()) return text + "bit for bit";
  if (same.empty()) return text + "within rounding";
  return text + fmt::format("within rounding, {} of them bit for bit", same.size());
}

/// What they answer: over the data set, else on the one sample.
std::string answer_text(Outcomes outcomes) {
  std::size_t compared = 0;
  std::size_t same = 0;
  std::int64_t samples = 0;
  std::size_t whole = 0;
  for (const TargetOutcome& one : outcomes.subspan(1)) {
    if (one.failed || !one.compared) continue;
    ++compared;
    same += one.same_answer == true ? 1 : 0;
    samples = std::max(samples, one.samples);
    whole += one.samples > 0 && one.same_samples == one.samples ? 1 : 0;
  }
  if (compared == 0) return {};
  if (samples > 0 && whole == compared) return fmt::format("same answer to all {} samples", samples);
  return same == compared ? "same answer" : "";
}

const char* answers_noun(std::optional<AnswerKind> kind) {
  return kind == AnswerKind::map ? "places" : kind == AnswerKind::tokens ? "tokens" : "rows";
}

void add_other_answers(Sentence& sentence, Outcomes outcomes) {
  std::vector<std::string> others;
  for (const TargetOutcome& one : outcomes.subspan(1)) {
    if (one.same_answer == false && one.answers.answers > 1)
      sentence.add(fmt::format("{} answers differently in {} of {} {}", one.target, one.answers.different,
                               one.answers.answers, answers_noun(one.answers.kind)));
    else if (one.same_answer == false)
      others.push_back(one.target);
    if (one.samples > 0 && one.same_samples >= 0 && one.same_samples < one.samples)
      sentence.add(fmt::format("{} answers {} of {} samples differently", one.target,
                               one.samples - one.same_samples, one.samples));
  }
  if (!others.empty())
    sentence.add(
        fmt::format("{} {} differently", name_list(others), others.size() == 1 ? "answers" : "answer"));
}

// A watched run takes several times as long as one that is not: only like is set beside like.
std::string slowest_text(Outcomes outcomes) {
  const RunTime& left = outcomes[0].time;
  const TargetOutcome* slowest = nullptr;
  std::size_t timed = 0;
  for (const TargetOutcome& one : outcomes.subspan(1)) {
    if (one.time.ns <= 0.0 || one.time.kind != left.kind) continue;
    ++timed;
    if (slowest == nullptr || one.time.ns > slowest->time.ns) slowest = &one;
  }
  if (slowest == nullptr || left.ns <= 0.0) return {};
  const double ratio = slowest->time.ns / left.ns;
  const std::string times =
      fmt::format("{} × {}", ratio < 9.95 ? fmt::format("{:.2g}", ratio) : fmt::format("{:.0f}", ratio),
                  outcomes[0].target);
  return timed == 1 ? "takes " + times : fmt::format("slowest {}, {}", slowest->target, times);
}

}  // namespace

std::string comparison_headline(std::span<const TargetOutcome> outcomes) {
  Sentence sentence;
  if (outcomes.empty()) return "nothing was compared";
  add_places(sentence, outcomes, "fault at ", [](const TargetOutcome& one) { return one.first_fault; });
  add_places(sentence, outcomes, "suspect at ", place_of_suspect);
  add_places(sentence, outcomes, "", [](const TargetOutcome& one) { return one.matters; });
  add_places(sentence, outcomes, "", [](const TargetOutcome& one) { return one.nonfinite; });
  add_places(sentence, outcomes, "", [](const TargetOutcome& one) { return one.hidden_overflow; });
  add_places(sentence, outcomes, "runs differ at ",
             [](const TargetOutcome& one) { return one.unrepeatable; });
  add_other_answers(sentence, outcomes);
  std::vector<std::string> failed;
  std::vector<std::string> unknown;
  for (const TargetOutcome& one : outcomes) {
    if (one.failed) failed.push_back(one.target);
    if (!one.failed && one.compared && one.differs && one.unverified && !is_bad(one))
      unknown.push_back(one.target);
  }
  std::string agreement = agreement_text(outcomes);
  if (const std::string answer = answer_text(outcomes); !answer.empty() && !agreement.empty())
    agreement += ", " + answer;
  sentence.add(agreement);
  if (!unknown.empty())
    sentence.add(fmt::format("{} differ{} from {}, not judged", name_list(unknown),
                             unknown.size() == 1 ? "s" : "", outcomes[0].target));
  add_places(sentence, outcomes, "", layers_not_judged);
  if (!failed.empty()) sentence.add(name_list(failed) + " failed");
  if (sentence.text().empty()) return "nothing was compared";
  if (outcomes.size() > 1) sentence.add(slowest_text(outcomes));
  return sentence.text();
}

}  // namespace driftscope
