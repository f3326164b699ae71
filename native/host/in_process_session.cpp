#include "native/host/in_process_session.hpp"

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "core/protocol/programs.hpp"
#include "core/protocol/service.hpp"
#include "native/host/prepared_model.hpp"
#include "native/host/service_run.hpp"

namespace driftscope {
namespace {

class InThisProcess final : public ServiceTransport {
 public:
  explicit InThisProcess(Service& service) : service_(service) {}
  Result<Response> exchange(const std::string& json, std::span<const std::byte> payload) override {
    const Bytes bytes = service_.request(pack_message(json, payload));
    Message message = unpack_message(bytes);
    return Response{std::move(message.json), Bytes(message.payload.begin(), message.payload.end())};
  }

 private:
  Service& service_;
};

class InProcessSession final : public HostSession {
 public:
  explicit InProcessSession(Target target) : target_(std::move(target)) {}

  // A service of its own: nothing is left of the run before.
  Result<Trace> run(const RunRequest& request, const TargetProgress& progress) override {
    if (request.keeps_prepared) return run_prepared(request, progress);
    prepared_.reset();
    Service service;
    const LoadRequest load = load_request(*request.model, target_);
    read_from(service, load);
    if (request.sink) service.record_to(request.sink);
    std::optional<Trace> trace;
    service.take_inputs(request.inputs);
    service.deliver_to([&trace](Trace made) { trace = std::move(made); });
    InThisProcess transport(service);
    return run_on_service(transport, target_, load, request,
                          {.trace = &trace, .environment = {{"host", target_.host}}}, progress);
  }

  Result<NodePrograms> programs(const RunRequest& request, NodeId node,
                                const TargetProgress& progress) override {
    Service service;
    const LoadRequest load = load_request(*request.model, target_);
    read_from(service, load);
    InThisProcess transport(service);
    ServiceClient client(transport);
    progress(preparing_step(0), 0, 0);
    DRIFTSCOPE_CHECK(client.send(load.head));
    DRIFTSCOPE_TRY(const Bytes inputs, pack_inputs(request.inputs));
    messages::Prepare prepare;
    prepare.target = target_.text();
    prepare.capture = request.plan.capture;
    prepare.environment = nlohmann::json::object({{"host", target_.host}});
    DRIFTSCOPE_CHECK(client.send(prepare, inputs));
    while (true) {
      if (request.stopped && request.stopped()) return Error{ErrorKind::cancelled, "stopped"};
      DRIFTSCOPE_TRY(const auto found,
                     client.send(messages::Programs{.node = static_cast<std::int64_t>(node)}));
      if (!found.head.waiting) return read_programs(found.payload);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  void drop_prepared() override { prepared_.reset(); }

 private:
  /// `load` must outlive the service's use of it.
  static void read_from(Service& service, const LoadRequest& load) {
    service.load_from([&load](std::uint64_t offset, std::span<std::byte> bytes) { load.read(offset, bytes); },
                      [&load](std::uint64_t offset, std::uint64_t count, std::size_t behind) {
                        return load.in_place(offset, count, behind);
                      });
  }

  Result<Trace> run_prepared(const RunRequest& request, const TargetProgress& progress) {
    if (!prepared_ || !prepared_->fits(request)) {
      prepared_.reset();
      DRIFTSCOPE_TRY(prepared_, PreparedModel::prepare(request, target_, progress));
    }
    auto trace = prepared_->run(request, progress);
    if (!trace.ok()) prepared_.reset();  // in the middle of a sample
    return trace;
  }

  Target target_;
  std::unique_ptr<PreparedModel> prepared_;
};

}  // namespace

std::unique_ptr<HostSession> in_process_session(Target target) {
  return std::make_unique<InProcessSession>(std::move(target));
}

}  // namespace driftscope
