// What `quantize --mode` can be. A mode is a file in modes/: each FOO.cpp defines
// `void driftscope::quantize::modes::foo::add_to(ModeTable&)`; the table is generated from the folder at
// configure time, never edited. Clients: quantize.hpp, the command. A mode rewrites a model; it runs nothing.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/quantize/model_edit.hpp"

namespace driftscope::quantize {

/// The range that a value had over the calibration data.
struct ValueRange {
  float low = 0.0F;
  float high = 0.0F;
};

struct ModeOptions {
  bool per_channel = false;
  /// Nodes that stay in float.
  std::set<std::string> keep = {};
  /// By value: of a calibrated mode.
  const std::map<std::string, ValueRange>* ranges = nullptr;
};

struct Mode {
  int order = 50;  ///< in lists, ascending
  std::string name;
  std::string summary;
  bool calibrated = false;
  bool folds_normalization = false;    ///< whether BatchNormalization goes into the weights first
  bool has_per_channel = false;        ///< whether --per-channel makes a difference
  std::int64_t opset = 0;              ///< that its operators need, and with --per-channel
  std::int64_t opset_per_channel = 0;  ///< (0: the same)
  std::int64_t ir = 4;                 ///< version of the file format that has its element types
  /// Nodes that it quantizes when none is kept, in their order.
  std::vector<std::string> (*layers)(const ModelEdit& edit) = nullptr;
  /// Of a calibrated mode: values whose ranges it needs.
  std::vector<std::string> (*values)(const ModelEdit& edit) = nullptr;
  /// Emits the whole model; notes say what a user should know.
  Status (*apply)(ModelEdit& edit, const ModeOptions& options, std::vector<std::string>& notes) = nullptr;
};

class ModeTable {
 public:
  void add(Mode mode);
  /// In their order.
  [[nodiscard]] std::span<const Mode> all() const { return modes_; }

 private:
  std::vector<Mode> modes_;
};

/// All of this build (generated: build/generated/quantize_mode_registry.cpp).
[[nodiscard]] const ModeTable& mode_table();

/// "int8-dynamic, int8-static, …"
[[nodiscard]] std::string mode_names();
/// Or an error that lists them.
[[nodiscard]] Result<const Mode*> find_mode(std::string_view name);

}  // namespace driftscope::quantize
