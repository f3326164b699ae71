// A target as a bench sees it: started, given a model, measured in turns. One implementation per kind of
// host; each target has its own processes, so that memory is attributed correctly.
// Client: the bench command.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/bench/bench_report.hpp"
#include "core/runtime/target.hpp"
#include "native/bench/other_build.hpp"
#include "native/host/run_request.hpp"

namespace driftscope {

/// What a subject is to run.
struct SubjectSpec {
  Target target;
  const ModelFile* model = nullptr;
  std::shared_ptr<const Bytes> inputs;       ///< safetensors
  std::string capture = "none";              ///< as for the service's "prepare"
  std::vector<std::string> program;          ///< Host::worker_program
  std::filesystem::path site;                ///< for browsers: the folder that is served
  const OtherBuild* build = nullptr;         ///< measured in this build instead of ours
  std::chrono::milliseconds timeout{60000};  ///< longest time without a sign of life
  /// For a browser: longest time without progress while its page lives; nothing: a multiple of `timeout`.
  std::optional<std::chrono::milliseconds> stall_timeout = {};
  WebDriverOptions web_driver = {};  ///< for a browser of a WebDriver elsewhere
  /// For a browser that has not opened the page: it is then ended and started once more.
  std::chrono::milliseconds start_patience{30000};
};

[[nodiscard]] inline double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

class Subject : public BenchSubject {
 public:
  /// Writes current values into the row: peaks of memory so far.
  virtual void describe(BenchRow& row) const = 0;
  /// What its processes take now: "process_pss", "process_tree_pss", "gpu_process_pss".
  [[nodiscard]] virtual std::vector<MemoryRecord> processes() const = 0;
  /// What disturbed it, as far as it knows: a line each.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
};

/// A process of SubjectSpec::program that runs the service. Loads, prepares and runs once, and writes the
/// results into `row`.
[[nodiscard]] Result<std::unique_ptr<Subject>> open_local_subject(const SubjectSpec& spec,
                                                                  const StopCheck& stop, BenchRow& row);

}  // namespace driftscope
