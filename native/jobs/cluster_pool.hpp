// Jobs on a Dask cluster, handed over to the Python package (python3 -m driftscope.cluster), which knows
// schedulers and workers. Clients: commands with --cluster. What is said both ways: docs/cluster.md.
#pragma once

#include <chrono>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "native/jobs/job_pool.hpp"
#include "native/os/child_process.hpp"
#include "native/os/file_descriptor.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope {

class ClusterPool final : public JobPool {
 public:
  struct Options {
    std::string address;  ///< of the scheduler: tcp://host:8786
    std::string build;    ///< of this program; workers with another one are refused
    /// Without the scheduler, once it was there.
    std::chrono::seconds patience{600};
  };
  /// Errors: missing, with what to do: no Python, no package, no scheduler, no worker within a minute.
  [[nodiscard]] static Result<std::unique_ptr<ClusterPool>> connect(const Options& options);
  ~ClusterPool() override;

  [[nodiscard]] std::string about() const override;
  [[nodiscard]] std::size_t room() const override;
  [[nodiscard]] Status submit(ProgramJob job) override;
  [[nodiscard]] Result<std::vector<ProgramJobResult>> wait(std::chrono::milliseconds patience) override;

 private:
  struct SentFile {
    std::string sha256;
    std::uintmax_t bytes = 0;
    std::filesystem::file_time_type written;
  };
  explicit ClusterPool(TempFolder folder) : folder_(std::move(folder)) {}
  [[nodiscard]] Status start(const Options& options);
  [[nodiscard]] Status say(const nlohmann::json& message);
  /// What has arrived within this time, line by line.
  [[nodiscard]] Status listen(std::chrono::milliseconds patience);
  [[nodiscard]] Status take(const std::string& line);
  [[nodiscard]] Result<SentFile> describe(const std::filesystem::path& path);
  [[nodiscard]] Error gone();

  TempFolder folder_;  // its log, and results
  std::optional<ChildProcess> process_;
  FileDescriptor socket_;
  std::string address_;
  std::string arrived_;                          ///< of a line that is not complete
  std::map<std::int64_t, std::string> running_;  ///< keys by id
  std::deque<ProgramJobResult> ended_;           ///< not yet asked for
  std::map<std::string, SentFile> files_;        ///< by path
  std::int64_t workers_ = -1;                    ///< −1: not connected yet
  std::int64_t threads_ = 0;
  std::string waiting_;  ///< why nothing runs now; empty: it does
};

}  // namespace driftscope
