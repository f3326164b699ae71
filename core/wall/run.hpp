// One run of a stored comparison as a wall shows it: which model on which target, with what, when, and what
// came of it. Clients: read_runs (makes them), history, the pages. Every text is as it stood in the file.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/results/run_times.hpp"
#include "core/verify/verdict.hpp"

namespace driftscope::wall {

/// A verdict, or that the target did not run.
enum class State { identical, rounding, unjudged, suspect, fault, failed, missing };

struct StateRow {
  State state;
  std::string_view name;       ///< of classes and filters
  std::string_view text;       ///< as the pages show it
  std::string_view css_class;  ///< of its colour (report_style.hpp)
  Verdict verdict;             ///< whose colour and symbol it has
  int severity = 0;            ///< −1: says nothing, and is left out of a history
};

/// In the order of the values.
inline constexpr std::array<StateRow, 7> state_rows = {{
    {State::identical, "identical", "= identical", "v-identical", Verdict::identical, 0},
    {State::rounding, "rounding", "~ rounding", "v-rounding", Verdict::rounding, 1},
    {State::unjudged, "unjudged", "○ unjudged", "v-unjudged", Verdict::unjudged, 2},
    {State::suspect, "suspect", "? suspect", "v-suspect", Verdict::suspect, 3},
    {State::fault, "fault", "✗ fault", "v-fault", Verdict::fault, 4},
    {State::failed, "failed", "✗ did not run", "v-fault", Verdict::fault, 5},
    {State::missing, "missing", "· missing", "v-missing", Verdict::missing, -1},
}};

[[nodiscard]] constexpr const StateRow& row_of(State state) {
  return state_rows[static_cast<std::size_t>(state)];
}
[[nodiscard]] constexpr int severity(State state) { return row_of(state).severity; }
/// Suspect, fault, did not run.
[[nodiscard]] constexpr bool is_bad(State state) { return severity(state) >= severity(State::suspect); }

/// The first layer, in topological order, that is a fault; else the first that is suspect.
struct BadLayer {
  std::string node;
  std::string op;
  double max_abs = 0.0;      ///< against the reference; NaN where unknown
  double budget_used = 0.0;  ///< largest error ÷ worst-case budget
};

struct Run {
  std::string file;  ///< below the folder that was read
  std::string model;
  std::string model_sha256;
  std::string target;   ///< "chrome/ort-webgpu:release=1.30.0"
  std::string host;     ///< "chrome"
  std::string engine;   ///< "ort-webgpu"
  std::string options;  ///< "release=1.30.0"
  std::string left;     ///< what it was compared with; empty for the left target itself
  std::string input;
  std::string date;           ///< "2026-11-30T03:08:16Z", of the run; empty: not known
  bool date_of_file = false;  ///< nothing in the document has a date: that of its file

  State state = State::missing;
  std::string error;  ///< why it did not run
  std::optional<BadLayer> bad;
  std::string first_divergence;     ///< the first node with a differing bit; empty: none
  std::optional<bool> same_answer;  ///< as on the left target

  bool facts = false;       ///< whether the document says what ran: a target that failed does not
  std::string browser;      ///< "Chromium 156.0.8078.108"
  std::string runtime;      ///< of other runtimes: "ort 1.30.0"
  std::string build;        ///< of Driftscope
  std::string system;       ///< "Linux 6.18.44 x86_64"
  std::string system_name;  ///< the same without a version: "Linux x86_64"
  std::string device;       ///< of the GPU; empty where the processor computes
  std::string driver;
  std::string processor;
  std::string instruction_set;

  RunTime time;
  std::int64_t peak_bytes = 0;  ///< 0: not known
  std::string peak_kind;
};

/// The runs of one file, or why there are none.
struct StoredFile {
  std::string name;
  std::string digest;  ///< of its bytes: a copy counts once
  std::vector<Run> runs;
  std::string error;  ///< empty: it was read
};

}  // namespace driftscope::wall
