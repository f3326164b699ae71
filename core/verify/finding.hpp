// What a judge has to say of a layer, as data: an id, numbers, words, elements. The sentence is made from it
// when it is shown, by the function of its id in findings/ (each FOO.cpp defines `void
// driftscope::findings::foo::add_to(FindingTable&)`; the table is generated from the folder). These know no
// judge: the screens show findings without what makes them. Clients: judges and variants, which make them;
// results and report, which write and read them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace driftscope {

struct Finding {
  std::string id;  ///< "family.name", as "precision.rounded_inputs"
  std::vector<std::pair<std::string, double>> numbers = {};
  std::vector<std::pair<std::string, std::string>> words = {};
  std::vector<std::vector<std::int64_t>> elements = {};  ///< indices of some of those it is about

  [[nodiscard]] std::string_view family() const { return std::string_view(id).substr(0, id.find('.')); }
  [[nodiscard]] std::string_view name() const {
    return std::string_view(id).substr(std::min(id.size(), id.find('.') + 1));
  }
  /// NaN where there is none of that name.
  [[nodiscard]] double number(std::string_view name) const;
  /// Empty where there is none of that name.
  [[nodiscard]] std::string_view word(std::string_view name) const;
};

/// How the findings of an id read. `text` must do with any finding: stored ones may lack numbers or words.
struct FindingKind {
  std::string_view id;
  std::string (*text)(const Finding& finding);
};

class FindingTable {
 public:
  void add(FindingKind kind) { kinds_.push_back(kind); }
  [[nodiscard]] std::span<const FindingKind> kinds() const { return kinds_; }

 private:
  std::vector<FindingKind> kinds_;
};

/// All of this build (generated: build/generated/finding_registry.cpp).
[[nodiscard]] const FindingTable& finding_table();

/// An element's index: "[0,3,1]".
[[nodiscard]] std::string index_text(std::span<const std::int64_t> index);

/// A sentence without a full stop. Of an unknown id: its word "text", which documents keep.
[[nodiscard]] std::string finding_text(const Finding& finding);

/// The sentences of all, in their order; empty without any.
[[nodiscard]] std::string findings_text(std::span<const Finding> findings);

}  // namespace driftscope
