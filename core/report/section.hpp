// A section of the report: a piece of HTML with a heading, "" where there is nothing to show. Each is a file
// in sections/: FOO.cpp defines `void driftscope::sections::foo::add_to(SectionTable&)`; the table is
// generated from the folder at configure time, never edited. Client: report.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/results/comparison_view.hpp"
#include "core/results/layer_table.hpp"

namespace driftscope {

/// Notes on what was left out to keep the file small, one sentence each.
using LeftOut = std::vector<std::string>;

/// What a section is written from.
struct SectionContext {
  const ComparisonView& view;
  const LayerTable& layers;
  std::size_t max_bytes;  ///< for the whole section: what others left of the file
  LeftOut& left_out;
};

struct Section {
  int order = 0;  ///< of sections in the page, ascending
  std::string (*write)(const SectionContext& context);
  bool takes_rest = false;  ///< as long as there is room: written when all others are
};

class SectionTable {
 public:
  void add(Section section) {
    sections_.insert(std::ranges::upper_bound(sections_, section.order, {}, &Section::order), section);
  }
  [[nodiscard]] std::span<const Section> sections() const { return sections_; }

 private:
  std::vector<Section> sections_;
};

/// All of this build (generated: build/generated/section_registry.cpp).
[[nodiscard]] const SectionTable& section_table();

// What sections have in common.
namespace sections {

/// Further targets are only in the JSON.
inline constexpr std::size_t max_targets = 12;
/// Of one reason, headline or command: more than any that Driftscope writes, and a bound for other texts.
inline constexpr std::size_t max_reason = 16'000;

/// The targets that are shown, the left one first.
[[nodiscard]] std::vector<const TargetResult*> first_targets(const ComparisonView& view);

/// The element and its heading; to be closed with </section>.
[[nodiscard]] std::string open_section(std::string_view id, std::string_view title,
                                       std::string_view css_class = "");
/// A table that scrolls by itself on a narrow screen, also by keyboard; to be closed with </table></div>.
[[nodiscard]] std::string open_table(const std::string& caption, const std::string& css_class = "");
/// A heading for each target.
[[nodiscard]] std::string column_heads(std::span<const TargetResult* const> targets);

/// The class of what has the colour of a target (report_style.hpp): "s1".
[[nodiscard]] std::string series_class(std::size_t target);
/// A horizontal bar in a table cell, `share` in [0, 1].
[[nodiscard]] std::string bar(double share, const std::string& css_class);

}  // namespace sections

}  // namespace driftscope
