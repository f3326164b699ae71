// What `bisect --over` varies. An axis is a file in axes/: each FOO.cpp defines `void
// driftscope::bisect_axes::foo::add_to(AxisTable&)`; the table is generated from the folder at configure
// time, never edited. Any option of an engine that no axis has the name of is varied over the values that it
// lists. Client: bisect_run.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/engine.hpp"
#include "core/runtime/target.hpp"

namespace driftscope {

struct AxisLevel {
  std::string name;
  std::map<std::string, std::string> options;  ///< set in the target
};

struct AxisRequest {
  const Target& target;
  const Engine& engine;
  const std::vector<std::string>& given;  ///< --levels; empty: all that there are
};

struct BisectAxis {
  std::string_view name;
  std::string_view summary;  ///< for --help: what its levels are
  /// Neighbours are alike but for one step, so that few levels need to run; false: all of them run.
  bool ordered = true;
  /// At least one level. Errors: the target has none, a level given is not one.
  Result<std::vector<AxisLevel>> (*levels)(const AxisRequest& request) = nullptr;
  /// A further level that has all of the last one's but the step to level `at`, to see whether that step
  /// alone does it. Null: there is none.
  AxisLevel (*without)(std::span<const AxisLevel> levels, std::size_t at) = nullptr;
};

class AxisTable {
 public:
  void add(BisectAxis axis) { axes_.push_back(axis); }
  [[nodiscard]] std::span<const BisectAxis> all() const { return axes_; }
  /// Null: none of this name.
  [[nodiscard]] const BisectAxis* find(std::string_view name) const;

 private:
  std::vector<BisectAxis> axes_;
};

/// All of this build (generated: build/generated/axes/axis_registry.cpp).
[[nodiscard]] const AxisTable& axis_table();

/// Levels that set one option to these values.
[[nodiscard]] std::vector<AxisLevel> levels_of_option(const std::string& option,
                                                      const std::vector<std::string>& values);

/// Levels for any option: the values given, or those that the engine lists.
[[nodiscard]] Result<std::vector<AxisLevel>> option_levels(const std::string& option,
                                                           const AxisRequest& request);

/// Those of `all` that were given, in the order of `all`: names, or ranges "A..B" of which either end may be
/// left out; all of them where none was given. Errors: one is not in `all`.
[[nodiscard]] Result<std::vector<std::string>> chosen_levels(const std::vector<std::string>& all,
                                                             const std::vector<std::string>& given,
                                                             std::string_view what);

}  // namespace driftscope
