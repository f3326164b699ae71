// This PC: the service runs in this process.
#include <fmt/format.h>

#include "core/platform/platform.hpp"
#include "core/protocol/service.hpp"
#include "native/host/host.hpp"
#include "native/host/prepared_model.hpp"
#include "native/host/service_run.hpp"

namespace driftscope::hosts::pc {
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

class Session final : public HostSession {
 public:
  explicit Session(Target target) : target_(std::move(target)) {}

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

class Pc final : public Host {
 public:
  const HostFacts& facts() const override { return facts_; }
  Result<std::string> version() const override {
    return fmt::format("{}, {} processor{}", platform_name(), usable_processors(),
                       usable_processors() == 1 ? "" : "s");
  }
  bool can_run(const EngineInfo& engine) const override { return engine.on_pc; }
  Availability runs(const Engine& engine) const override { return engine.available(); }
  Result<std::unique_ptr<HostSession>> open(const Target& target, HostContext&) const override {
    return std::unique_ptr<HostSession>(new Session(target));
  }

 private:
  const HostFacts facts_{.name = "pc", .order = 10};
};

}  // namespace

void add_to(HostTable& table) { table.add(std::make_unique<Pc>()); }

}  // namespace driftscope::hosts::pc
