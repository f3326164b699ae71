// How claims of a study are checked: each kind is a file in claims/: FOO.cpp defines
// `void driftscope::claims::foo::add_to(ClaimTable&)`; the table is generated from the folder at configure
// time, never edited. Clients: study_file, the report.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace driftscope {

class StudyView;
struct Answers;
namespace documents {
struct StudyClaim;
}

enum class ClaimAnswer {
  holds,
  fails,      ///< the opposite was found
  undecided,  ///< too few samples, or nothing significant
  not_run,
};

/// Of one model on one target.
struct ClaimCheck {
  std::string model;
  std::string target;
  ClaimAnswer answer = ClaimAnswer::not_run;
  std::string evidence;  ///< "82.1 % and 77.0 % of 445 samples; 23 right on pc/ort alone, 0 there; p 2e-07"
};

struct ClaimKind {
  std::string_view name;  ///< as of study_claim
  ClaimCheck (*check)(const StudyView& view, const documents::StudyClaim& claim, std::size_t subject,
                      std::size_t left, std::size_t target);
  bool of_left_too = false;  ///< it compares variants on one target, not targets
};

class ClaimTable {
 public:
  void add(ClaimKind kind) { kinds_.push_back(kind); }
  [[nodiscard]] const ClaimKind* find(std::string_view name) const;
  [[nodiscard]] std::string names() const;

 private:
  std::vector<ClaimKind> kinds_;
};
/// All of this build (generated: build/generated/claim_registry.cpp).
[[nodiscard]] const ClaimTable& claim_table();

/// Of every model of the claim on every target of its hosts but the left one.
[[nodiscard]] std::vector<ClaimCheck> check_claim(const StudyView& view, const documents::StudyClaim& claim);

[[nodiscard]] std::string_view claim_answer_text(ClaimAnswer answer);

// What kinds have in common.
namespace claims {

/// The answers of both targets on the subject's first data set; null: one has none.
struct Both {
  const Answers* left = nullptr;
  const Answers* right = nullptr;
};
[[nodiscard]] Both answers_of(const StudyView& view, std::size_t subject, std::size_t left,
                              std::size_t target);

}  // namespace claims
}  // namespace driftscope
