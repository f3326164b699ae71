#include "native/jobs/cluster_pool.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/base/error_kind.hpp"
#include "core/base/json.hpp"
#include "core/base/json_lists.hpp"
#include "core/base/sha256.hpp"
#include "core/base/text.hpp"
#include "native/os/cleanup.hpp"
#include "native/os/files.hpp"
#include "native/os/log_tail.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* python_variable = "DRIFTSCOPE_PYTHON";
constexpr auto start_time = std::chrono::seconds(60);
constexpr auto glance = std::chrono::milliseconds(100);
constexpr std::size_t longest_line = std::size_t{1} << 20;
constexpr std::size_t most_threads = 100'000;
constexpr std::size_t most_files = 10'000;  // of a job
/// Beside what runs on each thread there is one more job, so that none waits for this machine.
constexpr std::size_t jobs_per_thread = 2;

std::string python() {
  const char* const named = std::getenv(python_variable);
  return named != nullptr && *named != '\0' ? named : "python3";
}

std::int64_t whole_at(const ordered_json& message, const char* key, std::int64_t otherwise) {
  const auto found = message.find(key);
  return found != message.end() && found->is_number_integer() ? found->get<std::int64_t>() : otherwise;
}

std::string string_at(const ordered_json& message, const char* key) {
  const auto found = message.find(key);
  return found != message.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

ClusterPool::~ClusterPool() {
  if (!process_) return;
  // The end of what it reads: it cancels what runs there, and ends.
  socket_ = FileDescriptor();
  constexpr int time_to_cancel_ms = 5000;
  (void)process_->wait(time_to_cancel_ms);
  process_->end();
}

Result<std::unique_ptr<ClusterPool>> ClusterPool::connect(const Options& options) {
  DRIFTSCOPE_TRY(TempFolder folder, TempFolder::make());
  std::unique_ptr<ClusterPool> pool(new ClusterPool(std::move(folder)));
  DRIFTSCOPE_CHECK(pool->start(options));
  const auto until = std::chrono::steady_clock::now() + start_time;
  while (pool->workers_ < 0 || pool->threads_ == 0) {
    DRIFTSCOPE_CHECK(pool->listen(glance));
    if (CleanupRegistry::instance().closed()) return Error{ErrorKind::cancelled, "stopped"};
    if (std::chrono::steady_clock::now() > until)
      return missing_error(
          pool->workers_ < 0
              ? fmt::format("--cluster {}: no answer within {} s", options.address, start_time.count())
              : fmt::format(
                    "--cluster {}: the scheduler has no worker; start some: dask worker {} --nthreads 1",
                    options.address, options.address));
  }
  return pool;
}

Status ClusterPool::start(const Options& options) {
  address_ = options.address;
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return io_error("cannot make a socket for the cluster: " + system_message());
  socket_ = FileDescriptor(ends[0]);
  const FileDescriptor theirs(ends[1]);
  ProcessSpec spec;
  // Its standard input and output are the socket.
  spec.arguments = {"sh", "-c", "exec \"$@\" <&3 >&3 3>&-", "sh", python(), "-m", "driftscope.cluster"};
  for (const std::string& argument :
       {options.address, std::string("--results"), folder_.path().string(), std::string("--patience"),
        std::to_string(options.patience.count()), std::string("--build"), options.build})
    spec.arguments.push_back(argument);
  spec.output = folder_.path() / "log";
  spec.pass_fd = theirs.get();
  spec.passed_as = 3;
  DRIFTSCOPE_TRY(ChildProcess process, ChildProcess::start(spec));
  process_.emplace(std::move(process));
  return {};
}

Error ClusterPool::gone() {
  constexpr int time_to_end_ms = 3000;
  const bool ended = process_->wait(time_to_end_ms);
  const std::string said = log_tail(folder_.path() / "log");
  if (said.find("No module named") != std::string::npos)
    return missing_error(fmt::format(
        "--cluster needs the Python package with its extra: pip install 'driftscope[cluster]' (of {}, "
        "or name another Python in {}): {}",
        python(), python_variable, said));
  constexpr int missing_code = 3, not_found_code = 127;
  const int code = process_->exit_code().value_or(0);
  const std::string text =
      fmt::format("--cluster {}: {}; {}", address_,
                  ended ? process_->exit_text() : "its process closed the connection", said);
  return code == missing_code || code == not_found_code ? missing_error(text) : io_error(text);
}

Status ClusterPool::say(const nlohmann::json& message) {
  const std::string line = json_text(message) + "\n";
  for (std::string_view left = line; !left.empty();) {
    const ssize_t done = ::send(socket_.get(), left.data(), left.size(), MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return gone();
    left.remove_prefix(static_cast<std::size_t>(done));
  }
  return {};
}

Status ClusterPool::listen(std::chrono::milliseconds patience) {
  pollfd waited{socket_.get(), POLLIN, 0};
  if (::poll(&waited, 1, static_cast<int>(patience.count())) <= 0) return {};
  std::array<char, 65536> buffer;
  const ssize_t done = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
  if (done < 0 && errno == EINTR) return {};
  if (done <= 0) return gone();
  arrived_.append(buffer.data(), static_cast<std::size_t>(done));
  for (std::size_t end = arrived_.find('\n'); end != std::string::npos; end = arrived_.find('\n')) {
    DRIFTSCOPE_CHECK(take(arrived_.substr(0, end)));
    arrived_.erase(0, end + 1);
  }
  if (arrived_.size() > longest_line)
    return internal_error(fmt::format("--cluster: a line of more than {} bytes", longest_line));
  return {};
}

Status ClusterPool::take(const std::string& line) {
  const auto parsed = parse_document(line);
  if (!parsed.ok() || !parsed->is_object())
    return internal_error("--cluster: expected a line of JSON, got " + in_quotes(line));
  const ordered_json& message = *parsed;
  const std::string what = string_at(message, "say");
  if (what == "ready" || what == "workers") {
    workers_ = std::max<std::int64_t>(0, whole_at(message, "workers", 0));
    threads_ = std::clamp<std::int64_t>(whole_at(message, "threads", 0), 0, most_threads);
    waiting_.clear();
    return {};
  }
  if (what == "waiting") {
    waiting_ = string_at(message, "why");
    return {};
  }
  if (what != "done" && what != "failed") return {};  // of a newer package
  ProgramJobResult result;
  result.id = whole_at(message, "id", -1);
  const auto running = running_.extract(result.id);
  if (running.empty()) return {};
  waiting_.clear();
  result.worker = string_at(message, "where");
  if (what == "failed") {
    const ErrorKind kind = error_kind_named(string_at(message, "kind")).value_or(ErrorKind::internal);
    result.error = Error{kind, string_at(message, "why")};
    ended_.push_back(std::move(result));
    return {};
  }
  result.exit_code = static_cast<int>(whole_at(message, "exit", -1));
  result.errors = messages_in(string_at(message, "errors"));
  if (const auto seconds = message.find("seconds"); seconds != message.end() && seconds->is_number())
    result.seconds = seconds->get<double>();
  if (const std::string file = string_at(message, "result"); !file.empty()) {
    // Only what lies in our folder: the package writes nowhere else.
    const fs::path path = folder_.path() / fs::path(file).filename();
    const auto bytes = read_file(path);
    if (bytes.ok())
      result.result.assign(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    else
      result.error = bytes.error();
    // Jobs with the same key have one result.
    const bool wanted =
        std::ranges::any_of(running_, [&](const auto& other) { return other.second == running.mapped(); });
    std::error_code ignored;
    if (!wanted) fs::remove(path, ignored);
  }
  ended_.push_back(std::move(result));
  return {};
}

std::string ClusterPool::about() const {
  if (!waiting_.empty()) return waiting_;
  return fmt::format("{} {}", workers_, workers_ == 1 ? "worker" : "workers");
}

std::size_t ClusterPool::room() const {
  const std::size_t wanted = jobs_per_thread * static_cast<std::size_t>(std::max<std::int64_t>(0, threads_));
  return wanted - std::min(wanted, running_.size());
}

Result<ClusterPool::SentFile> ClusterPool::describe(const fs::path& path) {
  std::error_code error;
  const auto written = fs::last_write_time(path, error);
  const auto bytes = error ? 0 : fs::file_size(path, error);
  if (error) return io_error(fmt::format("{}: {}", path.string(), error.message()));
  SentFile& known = files_[path.string()];
  if (!known.sha256.empty() && known.bytes == bytes && known.written == written) return known;
  DRIFTSCOPE_TRY(const MappedFile file, MappedFile::open(path));
  known = {sha256_hex(file.source()), file.bytes().size(), written};
  return known;
}

/// Files by their names in the job's folder, those in folders included.
static Result<std::map<std::string, fs::path>> files_of(const ProgramJob& job) {
  std::map<std::string, fs::path> files = job.files;
  for (const auto& [name, folder] : job.folders) {
    std::error_code error;
    fs::recursive_directory_iterator entry(folder, error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      if (!entry->is_regular_file(error)) continue;
      files[name + "/" + entry->path().lexically_relative(folder).generic_string()] = entry->path();
      if (files.size() > most_files)
        return limit_error(fmt::format("{}: more than {} files for one job", folder.string(), most_files));
    }
    if (error) return io_error(fmt::format("{}: {}", folder.string(), error.message()));
  }
  return files;
}

Status ClusterPool::submit(ProgramJob job) {
  std::map<std::string, std::string> places = {{job_result_name, job_result_name}};
  nlohmann::json files = nlohmann::json::object();
  for (const auto& [name, folder] : job.folders) places[name] = name;
  DRIFTSCOPE_TRY(const auto all, files_of(job));
  for (const auto& [name, path] : all) {
    places[name] = name;
    const fs::path absolute = fs::absolute(path);
    DRIFTSCOPE_TRY(const SentFile file, describe(absolute));
    files[name] = {{"path", absolute.string()}, {"sha256", file.sha256}, {"bytes", file.bytes}};
  }
  DRIFTSCOPE_TRY(const auto arguments, placed_arguments(job, places));
  DRIFTSCOPE_CHECK(say({{"do", "submit"},
                        {"id", job.id},
                        {"key", job.key},
                        {"arguments", arguments},
                        {"files", files},
                        {"result", job_result_name},
                        {"seconds", job.limit.count()}}));
  running_[job.id] = job.key;
  return {};
}

Result<std::vector<ProgramJobResult>> ClusterPool::wait(std::chrono::milliseconds patience) {
  if (ended_.empty()) DRIFTSCOPE_CHECK(listen(patience));
  std::vector<ProgramJobResult> ended(std::make_move_iterator(ended_.begin()),
                                      std::make_move_iterator(ended_.end()));
  ended_.clear();
  return ended;
}

}  // namespace driftscope
