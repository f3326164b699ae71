// Patterns of tokenizer.json, literal or regular expressions as Oniguruma reads them, by PCRE2.
// Clients: native/text.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace driftscope::texts {

/// A part of a text, in bytes, and whether a pattern matches it.
struct Part {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool matches = false;
};

class Pattern {
 public:
  [[nodiscard]] static Result<Pattern> regex(const std::string& source);
  [[nodiscard]] static Pattern literal(std::string text);
  /// {"String": "…"} or {"Regex": "…"}.
  [[nodiscard]] static Result<Pattern> read(const nlohmann::json& json, const std::string& where);

  /// Matches and what lies between them, in order. Errors: the limit of backtracking.
  [[nodiscard]] Result<std::vector<Part>> parts(std::string_view text) const;
  [[nodiscard]] Result<std::string> replaced(std::string_view text, std::string_view by) const;

 private:
  std::shared_ptr<void> code_;  ///< null: literal
  std::string text_;
};

enum class Behavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };
[[nodiscard]] Result<Behavior> read_behavior(const std::string& name, const std::string& where);

/// What becomes of the parts; those with `matches` are dropped.
[[nodiscard]] std::vector<Part> split_parts(const std::vector<Part>& parts, Behavior behavior);

}  // namespace driftscope::texts
