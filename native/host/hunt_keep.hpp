// Findings of a hunt: those that are new on their target are reduced and kept in a folder, of others nothing.
// Client: hunt_run.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include "native/host/hunt_judge.hpp"
#include "native/host/hunt_run.hpp"

namespace driftscope {

class HuntKeeper {
 public:
  /// All outlive this.
  HuntKeeper(HuntCases& cases, const HuntPlan& plan, HuntJudge& judge)
      : cases_(cases), plan_(plan), judge_(judge) {}

  /// Findings of earlier runs.
  void know(const documents::Hunt& hunt);
  /// Completes the cell's findings. Errors: of this PC, such as files; cancelled.
  [[nodiscard]] Status keep_new(const Target& target, std::int64_t number, const HuntCase& one,
                                JudgedCase& judged);
  /// The same of a case that was judged elsewhere: it is run again here where something in it is new.
  [[nodiscard]] Status keep_new_of(const Target& target, std::int64_t number, documents::HuntCase& cell);

 private:
  [[nodiscard]] bool is_new(const Target& target, const documents::HuntFound& found) const;
  [[nodiscard]] Status keep_if_new(const Target& target, std::int64_t number, const HuntCase& one,
                                   const Trace& trace, documents::HuntFound& found);
  [[nodiscard]] Status keep(const Target& target, const HuntCase& one, const Trace& trace,
                            documents::HuntFound& found, const std::filesystem::path& folder);
  [[nodiscard]] Status reduce_into(const Target& target, const HuntCase& one, const Trace& trace,
                                   const std::string& node, const std::filesystem::path& part);

  HuntCases& cases_;
  const HuntPlan& plan_;
  HuntJudge& judge_;
  std::set<std::pair<std::string, std::string>> known_;  ///< target and key
};

}  // namespace driftscope
