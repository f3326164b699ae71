// Browsers, through the server and the launcher: one host for each kind (native/browser/kinds).
#include "native/host/host.hpp"
#include "native/browser/browser_features.hpp"
#include "native/browser/browser_session.hpp"
#include "native/host/page_host_session.hpp"

namespace driftscope::hosts::browsers {
namespace {

class BrowserHost final : public Host {
 public:
  BrowserHost(const std::string& name, int order) : facts_{.name = name, .order = order} {}
  const HostFacts& facts() const override { return facts_; }

  Result<std::string> version() const override {
    DRIFTSCOPE_TRY(const HostInfo found, probe_host(facts_.name));
    return found.version;
  }

  bool can_run(const EngineInfo& engine) const override {
    const BrowserFeature* const feature = find_browser_feature(engine.browser_feature);
    return engine.in_browsers && (feature == nullptr || feature->host == facts_.name);
  }

  Availability runs(const Engine& engine) const override {
    if (engine.info().browser_feature.empty()) return {true, ""};
    const auto with = probe_host(facts_.name, engine.info().browser_feature);
    return with.ok() ? Availability{true, with->version} : Availability{false, with.error().message};
  }

  Result<std::unique_ptr<HostSession>> open(const Target& target, HostContext& context) const override {
    DRIFTSCOPE_TRY(Server* const server, context.server());
    DRIFTSCOPE_TRY(HostInfo host, probe_target_host(target));
    return page_host_session(target, context.options,
                             std::make_unique<BrowserSession>(*server, std::move(host)));
  }

 private:
  const HostFacts facts_;
};

}  // namespace

void add_to(HostTable& table) {
  int order = 20;
  for (const std::string& name : browser_hosts()) table.add(std::make_unique<BrowserHost>(name, order++));
}

}  // namespace driftscope::hosts::browsers
