#include "native/host/in_process_session.hpp"

#include <optional>
#include <utility>

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
    service.load_from([&load](std::uint64_t offset, std::span<std::byte> bytes) { load.read(offset, bytes); },
                      [&load](std::uint64_t offset, std::uint64_t count, std::size_t behind) {
                        return load.in_place(offset, count, behind);
                      });
    if (request.sink) service.record_to(request.sink);
    std::optional<Trace> trace;
    service.take_inputs(request.inputs);
    service.deliver_to([&trace](Trace made) { trace = std::move(made); });
    InThisProcess transport(service);
    return run_on_service(transport, target_, load, request,
                          {.trace = &trace, .environment = {{"host", target_.host}}}, progress);
  }

  void drop_prepared() override { prepared_.reset(); }

 private:
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
