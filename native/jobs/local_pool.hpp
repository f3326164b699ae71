// Jobs as processes on this machine, some at a time. Clients: commands with --jobs.
#pragma once

#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "native/jobs/job_pool.hpp"
#include "native/os/child_process.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope {

class LocalPool final : public JobPool {
 public:
  struct Options {
    std::size_t at_a_time = 1;
    std::vector<std::string> program = {};                ///< empty: this one
    std::vector<std::string> before = {};                 ///< arguments before those of a job (--max-memory)
    std::map<std::string, std::string> environment = {};  ///< what other users must not see in arguments
  };
  [[nodiscard]] static Result<std::unique_ptr<LocalPool>> make(Options options);

  [[nodiscard]] std::string about() const override { return {}; }
  [[nodiscard]] std::size_t room() const override { return options_.at_a_time - running_.size(); }
  [[nodiscard]] Status submit(ProgramJob job) override;
  [[nodiscard]] Result<std::vector<ProgramJobResult>> wait(std::chrono::milliseconds patience) override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Running {
    std::int64_t id = 0;
    std::filesystem::path folder;
    Clock::time_point begin;
    std::chrono::seconds limit;
    ChildProcess process;
  };
  LocalPool(TempFolder folder, Options options) : folder_(std::move(folder)), options_(std::move(options)) {}
  [[nodiscard]] static ProgramJobResult result_of(const Running& one, bool too_long);

  TempFolder folder_;
  Options options_;
  std::list<Running> running_;  // ends before the folder goes
};

}  // namespace driftscope
