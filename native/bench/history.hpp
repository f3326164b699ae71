// Benches of the past, in an SQLite file: every bench is added, and the series of each target over the
// builds can be read back. Client: the bench command.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/bench/bench_report.hpp"
#include "core/bench/noise.hpp"

namespace driftscope {

/// The conditions of a series of measurements: only medians with the same ones are compared.
struct HistorySeries {
  std::string model;
  std::string model_sha256;
  std::string target;
  std::int64_t batch = 1;
  std::string capture;
  std::string machine;                  ///< processor and cores
  std::string browser_version;          ///< empty on the pc
  std::vector<BuildTimes> builds;       ///< in the order in which they were first measured
  std::vector<std::string> first_seen;  ///< of each build: the time of its first bench, UTC
};

/// Which series to read; empty texts and lists fit all.
struct HistoryFilter {
  std::vector<std::string> models;  ///< names or paths of .onnx files
  std::vector<std::string> targets;
};

class History {
 public:
  /// The default location: driftscope/bench.sqlite in $XDG_DATA_HOME or
  /// ~/.local/share. Empty when there is neither.
  [[nodiscard]] static std::filesystem::path default_place();
  /// Programs that do not know each other's locks have files of their own.
  [[nodiscard]] static const char* file_name();

  /// Opens, or creates, the file. Errors name the file: it is not an SQLite file or is damaged, a newer
  /// Driftscope created it, another process locks it, the folder is not writable.
  [[nodiscard]] static Result<History> open(const std::filesystem::path& file);
  History(History&&) noexcept;
  History& operator=(History&&) = delete;
  ~History();

  /// All measured rows of a bench, or none of them.
  [[nodiscard]] Status add(const BenchReport& report);
  [[nodiscard]] Result<std::vector<HistorySeries>> read(const HistoryFilter& filter);

 private:
  struct State;
  explicit History(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace driftscope
