#include "native/jobs/local_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "native/os/files.hpp"
#include "native/os/own_program.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

constexpr auto look_every = std::chrono::milliseconds(20);
/// After the request to end: what a browser needs to close.
constexpr int grace_ms = 3000;

std::string text_of(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return {};
  const auto bytes = read_file(path);
  if (!bytes.ok()) return {};
  return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
}

fs::path result_in(const fs::path& folder) { return folder / job_result_name; }
fs::path log_in(const fs::path& folder) { return folder / "log"; }

}  // namespace

Result<std::unique_ptr<LocalPool>> LocalPool::make(Options options) {
  DRIFTSCOPE_TRY(TempFolder folder, TempFolder::make());
  options.at_a_time = std::max<std::size_t>(1, options.at_a_time);
  if (options.program.empty()) options.program = own_program();
  return std::unique_ptr<LocalPool>(new LocalPool(std::move(folder), std::move(options)));
}

Status LocalPool::submit(ProgramJob job) {
  const fs::path folder = folder_.path() / std::to_string(job.id);
  std::error_code error;
  if (!fs::create_directory(folder, error))
    return io_error(fmt::format("cannot make the folder of a job, {}: {}", folder.string(),
                                error ? error.message() : "it is there already"));
  std::map<std::string, std::string> places = {{job_result_name, result_in(folder).string()}};
  for (const auto* const some : {&job.files, &job.folders})
    for (const auto& [name, path] : *some) places[name] = fs::absolute(path).string();
  ProcessSpec spec;
  spec.arguments = options_.program;
  spec.arguments.insert(spec.arguments.end(), options_.before.begin(), options_.before.end());
  spec.environment = options_.environment;
  DRIFTSCOPE_TRY(const auto arguments, placed_arguments(job, places));
  spec.arguments.insert(spec.arguments.end(), arguments.begin(), arguments.end());
  spec.output = log_in(folder);
  DRIFTSCOPE_TRY(ChildProcess process, ChildProcess::start(spec));
  running_.push_back({job.id, folder, Clock::now(), job.limit, std::move(process)});
  return {};
}

ProgramJobResult LocalPool::result_of(const Running& one, bool too_long) {
  ProgramJobResult result;
  result.id = one.id;
  result.seconds = std::chrono::duration<double>(Clock::now() - one.begin).count();
  result.errors = messages_in(text_of(log_in(one.folder)));
  if (too_long) {
    result.error = limit_error(fmt::format("it was ended after {} s; {}", one.limit.count(),
                                           result.errors.empty() ? "it printed nothing" : result.errors));
    return result;
  }
  result.exit_code = one.process.exit_code();
  if (result.exit_code)
    result.result = text_of(result_in(one.folder));
  else
    result.error = internal_error(fmt::format("its process was {}; {}", one.process.exit_text(),
                                              result.errors.empty() ? "it printed nothing" : result.errors));
  return result;
}

Result<std::vector<ProgramJobResult>> LocalPool::wait(std::chrono::milliseconds patience) {
  std::vector<ProgramJobResult> ended;
  const auto until = Clock::now() + patience;
  for (;;) {
    for (auto one = running_.begin(); one != running_.end();) {
      const bool too_long = Clock::now() - one->begin > one->limit;
      if (one->process.running() && !too_long) {
        ++one;
        continue;
      }
      const bool was_running = one->process.running();
      one->process.end(grace_ms);  // with what it has started, also where it has ended itself
      ended.push_back(result_of(*one, was_running));
      std::error_code ignored;
      fs::remove_all(one->folder, ignored);
      one = running_.erase(one);
    }
    if (!ended.empty() || running_.empty() || Clock::now() >= until) return ended;
    std::this_thread::sleep_for(std::min<Clock::duration>(look_every, until - Clock::now()));
  }
}

}  // namespace driftscope
