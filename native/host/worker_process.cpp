#include "native/host/worker_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/protocol/measure.hpp"
#include "core/protocol/service.hpp"
#include "native/host/trace_writer.hpp"
#include "native/os/idle.hpp"
#include "native/os/log_tail.hpp"
#include "native/os/resource_limits.hpp"

namespace driftscope {
namespace {

using std::chrono::milliseconds;

constexpr int look_up_ms = 50;  // how often a wait checks whether to go on
constexpr std::uint64_t max_message_bytes = std::uint64_t{1} << 36;

// The sizes of the message and of the external bytes.
using Head = std::array<std::byte, 16>;

Head head_of(std::uint64_t message, std::uint64_t outside) {
  Head head{};
  for (unsigned i = 0; i < 8; ++i) {
    head[i] = static_cast<std::byte>(message >> (8 * i));
    head[8 + i] = static_cast<std::byte>(outside >> (8 * i));
  }
  return head;
}

std::uint64_t size_at(const Head& head, std::size_t place) {
  std::uint64_t size = 0;
  for (unsigned i = 0; i < 8; ++i) size |= std::to_integer<std::uint64_t>(head[place + i]) << (8 * i);
  return size;
}

/// Transfers bytes over the line; `wait(events)` returns when it can go on, or an error.
template <class Wait>
Status send_all(int line, std::span<const std::byte> bytes, const Wait& wait) {
  while (!bytes.empty()) {
    const ssize_t sent = send(line, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    } else if (sent < 0 && errno != EAGAIN && errno != EINTR) {
      return io_error(std::strerror(errno));
    } else {
      DRIFTSCOPE_CHECK(wait(POLLOUT));
    }
  }
  return {};
}

template <class Wait>
Status receive_all(int line, std::span<std::byte> bytes, const Wait& wait) {
  while (!bytes.empty()) {
    const ssize_t got = recv(line, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(got));
    } else if (got == 0) {
      return io_error("the connection was closed");
    } else if (errno != EAGAIN && errno != EINTR) {
      return io_error(std::strerror(errno));
    } else {
      DRIFTSCOPE_CHECK(wait(POLLIN));
    }
  }
  return {};
}

template <class Wait>
Status send_message(int line, std::span<const std::byte> message, const OutsideParts& outside,
                    const Wait& wait) {
  std::uint64_t beside = 0;
  for (const SharedBytes& part : outside) beside += part.size();
  DRIFTSCOPE_CHECK(send_all(line, head_of(message.size(), beside), wait));
  DRIFTSCOPE_CHECK(send_all(line, message, wait));
  for (const SharedBytes& part : outside) DRIFTSCOPE_CHECK(send_all(line, part.bytes(), wait));
  return {};
}

// Bytes that are not initialised before they are read.
struct Received {
  std::unique_ptr<std::byte[]> data;
  std::size_t size = 0;
  [[nodiscard]] std::span<std::byte> bytes() const { return {data.get(), size}; }
};

template <class Wait>
Result<Received> receive_bytes(int line, std::uint64_t size, const Wait& wait) {
  if (size > max_message_bytes) return internal_error("a message is too long");
  Received received{std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(size)),
                    static_cast<std::size_t>(size)};
  DRIFTSCOPE_CHECK(receive_all(line, received.bytes(), wait));
  return received;
}

struct Incoming {
  Received message;
  Received outside;
};

template <class Wait>
Result<Incoming> receive_message(int line, const Wait& wait) {
  Head head{};
  DRIFTSCOPE_CHECK(receive_all(line, head, wait));
  Incoming incoming;
  DRIFTSCOPE_TRY(incoming.message, receive_bytes(line, size_at(head, 0), wait));
  DRIFTSCOPE_TRY(incoming.outside, receive_bytes(line, size_at(head, 8), wait));
  return incoming;
}

/// Every run overwrites the same file.
class TraceFiles final : public RunRecorder {
 public:
  Status begin(const Graph& graph) override {
    if (!folder_) {
      DRIFTSCOPE_TRY(TempFolder made, TempFolder::make());
      folder_.emplace(std::move(made));
    }
    DRIFTSCOPE_TRY(TraceWriter writer, TraceWriter::create(file(), graph, 1));
    writer_.emplace(std::move(writer));
    return {};
  }
  Status add(const std::string& name, const Tensor& tensor) override { return writer_->add(name, tensor); }
  Status finish(const Trace& about) override {
    DRIFTSCOPE_TRY(const std::int64_t size, writer_->finish(about));
    writer_.reset();
    return size > 0 ? Status() : internal_error("an empty trace was written");
  }
  Status discard() override {
    std::error_code failure;
    if (folder_) std::filesystem::remove(file(), failure);
    if (!failure) return {};
    return io_error(fmt::format("cannot remove {}: {}", file().string(), failure.message()));
  }

 private:
  [[nodiscard]] std::filesystem::path file() const { return folder_->path() / "trace.safetensors"; }

  std::optional<TempFolder> folder_;
  std::optional<TraceWriter> writer_;
};

/// Whether nothing reads the bytes of a model that was loaded once after this request: a run may open it
/// again for what is not watched (web/worker/engine.mjs does the same).
bool ends_reading(std::span<const std::byte> message) {
  const auto request = nlohmann::json::parse(unpack_message(message).json, nullptr, false);
  if (!request.is_object()) return false;
  const auto number = [&request](const char* name) {
    const auto found = request.find(name);
    return found != request.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
  };
  const auto name = request.find("do");
  if (name == request.end()) return false;
  if (*name == "start") return number("unwatched_ms") == 0 && number("memory_runs") == 0;
  return *name == "prepare" || *name == "finish" || *name == "cancel";
}

/// Waits without a limit: the child has nothing else to do.
Status wait_forever(int line, short events) {
  pollfd ready{line, events, 0};
  if (poll(&ready, 1, -1) < 0 && errno != EINTR) return io_error(std::strerror(errno));
  return {};
}

}  // namespace

Result<WorkerProcess> WorkerProcess::start(const std::vector<std::string>& program) {
  DRIFTSCOPE_TRY(TempFolder folder, TempFolder::make());
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return io_error(std::string("cannot connect to a process: ") + std::strerror(errno));
  ProcessSpec spec;
  spec.arguments = program;
  const auto add = [&spec](std::initializer_list<std::string> arguments) {
    spec.arguments.insert(spec.arguments.end(), arguments);
  };
  if (asked_memory() > 0) add({"--max-memory", std::to_string(asked_memory())});
  constexpr int line_of_worker = 3;
  add({"worker", "--line", std::to_string(line_of_worker)});
  spec.output = folder.path() / "worker.log";
  spec.pass_fd = ends[1];
  spec.passed_as = line_of_worker;
  auto process = ChildProcess::start(spec);
  close(ends[1]);
  if (!process.ok()) {
    close(ends[0]);
    return std::move(process).error();
  }
  return WorkerProcess(std::move(folder), *std::move(process), ends[0]);
}

WorkerProcess::WorkerProcess(TempFolder folder, ChildProcess process, int line)
    : folder_(std::move(folder)), process_(std::move(process)), line_(line) {}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : folder_(std::move(other.folder_)),
      process_(std::move(other.process_)),
      line_(std::exchange(other.line_, -1)) {}

WorkerProcess::~WorkerProcess() {
  if (line_ < 0) return;
  close(line_);  // it then exits by itself; if it is computing, it is killed
  process_.end(process_.wait(200) ? 0 : 500);
}

Error WorkerProcess::death() const {
  (void)process_.wait(1000);
  return internal_error(fmt::format("its process ended: {}; its last output: {}", process_.exit_text(),
                                    log_tail(folder_.path() / "worker.log")));
}

Result<ServiceTransport::Response> WorkerProcess::exchange(const std::string& json,
                                                           std::span<const std::byte> payload,
                                                           const OutsideParts& outside, milliseconds timeout,
                                                           const StopCheck& stop) {
  const auto end = Clock::now() + timeout;
  const auto wait = [&](short events) -> Status {
    while (true) {
      pollfd ready{line_, events, 0};
      if (poll(&ready, 1, look_up_ms) > 0) return {};
      if (stop()) return Error{ErrorKind::cancelled, "stopped"};
      if (Clock::now() > end)
        return limit_error(
            fmt::format("no answer within {} s; --timeout allows more", timeout.count() / 1000));
    }
  };
  const auto explain = [&](Error error) { return error.kind == ErrorKind::io ? death() : std::move(error); };
  const Bytes message = pack_message(json, payload);
  if (auto sent = send_message(line_, message, outside, wait); !sent.ok())
    return explain(std::move(sent).error());
  const auto reply = receive_message(line_, wait);
  if (!reply.ok()) return explain(reply.error());
  Message response = unpack_message(reply->message.bytes());
  return ServiceTransport::Response{std::move(response.json),
                                    Bytes(response.payload.begin(), response.payload.end())};
}

void WorkerProcess::wait_until_idle() const { driftscope::wait_until_idle({process_.mark().leader}); }

std::int64_t WorkerProcess::memory() const { return total_pss({process_.mark().leader}); }

void serve_service(int line) {
  TraceFiles files;
  Service service;
  service.measure_into(&files);
  const auto wait = [line](short events) { return wait_forever(line, events); };
  Received outside;  // of the last load
  service.load_from([&outside](std::uint64_t offset, std::span<std::byte> target) {
    const bool inside = offset <= outside.size && target.size() <= outside.size - offset;
    // Fewer bytes came than were announced, or they are gone: the model is then not readable.
    if (inside)
      std::memcpy(target.data(), outside.data.get() + offset, target.size());
    else
      std::ranges::fill(target, std::byte{0});
  });
  while (true) {
    auto incoming = receive_message(line, wait);
    if (!incoming.ok()) return;
    if (incoming->outside.size > 0) outside = std::move(incoming->outside);
    const Bytes reply = service.request(incoming->message.bytes());
    if (ends_reading(incoming->message.bytes())) outside = {};
    incoming->message = {};
    if (!send_message(line, reply, {}, wait).ok()) return;
  }
}

}  // namespace driftscope
