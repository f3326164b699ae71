// This PC: the service runs in this process.
#include <fmt/format.h>

#include "core/platform/platform.hpp"
#include "native/host/host.hpp"
#include "native/host/in_process_session.hpp"
#include "native/os/own_program.hpp"

namespace driftscope::hosts::pc {
namespace {

class Pc final : public Host {
 public:
  const HostFacts& facts() const override { return facts_; }
  Result<std::string> version() const override {
    return fmt::format("{}, {} processor{}", platform_name(), usable_processors(),
                       usable_processors() == 1 ? "" : "s");
  }
  bool can_run(const EngineInfo& engine) const override { return engine.on_pc; }
  Availability runs(const Engine& engine) const override { return engine.available(); }
  Result<std::vector<std::string>> worker_program() const override { return own_program(); }
  Result<std::unique_ptr<HostSession>> open(const Target& target, HostContext&) const override {
    return in_process_session(target);
  }

 private:
  const HostFacts facts_{.name = "pc", .order = 10};
};

}  // namespace

void add_to(HostTable& table) { table.add(std::make_unique<Pc>()); }

}  // namespace driftscope::hosts::pc
