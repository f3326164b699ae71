#include "native/bench/bench_page.hpp"

#include <fmt/format.h>

#include <utility>

#include "native/browser/launcher.hpp"
#include "native/browser/remote_device.hpp"
#include "native/browser/run_conditions.hpp"
#include "native/browser/webdriver_session.hpp"
#include "native/http/hub_device.hpp"

namespace driftscope {
namespace {

class BrowserPage final : public BenchPage {
 public:
  BrowserPage(Server& server, HostInfo host) : server_(server), host_(std::move(host)) {}
  const HostInfo& host() const override { return host_; }
  bool opens_again() const override { return true; }

  Status open(Job& job) override {
    DRIFTSCOPE_TRY(Browser started, Browser::start(host_, server_.job_url(job)));
    browser_.reset();
    browser_.emplace(std::move(started));
    return {};
  }
  void end() override {
    if (browser_) browser_->end();
  }
  std::optional<std::string> ended() override {
    if (browser_->running()) return std::nullopt;
    return "ended before it was done: " + browser_->exit_text();
  }
  void wait_until_idle() override { browser_->wait_until_idle(); }
  std::int64_t memory() const override { return browser_->memory(); }
  std::int64_t gpu_process_memory() const override { return browser_->gpu_process_memory(); }

 private:
  Server& server_;
  HostInfo host_;
  std::optional<Browser> browser_;
};

class DevicePage final : public BenchPage {
 public:
  DevicePage(Server& server, RemoteDevice device) : server_(server), device_(std::move(device)) {}
  const HostInfo& host() const override { return device_.host(); }
  bool opens_again() const override { return false; }

  Status open(Job& job) override {
    job_ = job.id();
    DRIFTSCOPE_TRY(given_, device_.give(server_, job, {}));
    return {};
  }
  void end() override { given_.reset(); }
  std::optional<std::string> ended() override {
    if (Clock::now() - asked_ < std::chrono::seconds(1)) return std::nullopt;
    asked_ = Clock::now();
    const auto now = device_.now();
    if (!now.ok()) return "can be asked no more: " + now.error().message;
    if (now->lost && now->lost->job == job_) return "lost its page " + lost_text(*now->lost);
    return std::nullopt;
  }
  // The page says them every few seconds, and at once when it is hidden.
  std::vector<std::string> notes() const override {
    const auto now = device_.now();
    if (!now.ok() || now->conditions_of != job_ || !now->conditions) return {};
    const auto seen = read_conditions(*now->conditions);
    return seen ? condition_notes(*seen) : std::vector<std::string>();
  }

 private:
  Server& server_;
  RemoteDevice device_;
  std::string job_;
  std::unique_ptr<GivenJob> given_;
  Clock::time_point asked_{};
};

class RemoteBrowserPage final : public BenchPage {
 public:
  RemoteBrowserPage(Server& server, HostInfo host, RemoteBrowser browser)
      : server_(server), host_(std::move(host)), browser_(std::move(browser)) {}
  const HostInfo& host() const override { return host_; }
  bool opens_again() const override { return false; }

  Status open(Job& job) override {
    job_ = &job;
    browser_->open(remote_job_url(server_, job));
    return {};
  }
  void end() override { browser_.reset(); }
  // Rarely: it waits for the answer, and the driver may ask the page that measures.
  std::optional<std::string> ended() override {
    if (!browser_) return "was ended";
    // Once the page is there it does not matter what the driver says of opening it, as that it took too long.
    const auto failure = browser_->open_failure();
    if (failure && job_ != nullptr && !job_->wait(std::chrono::milliseconds(0)).opened)
      return "could not open the page: " + *failure;
    if (Clock::now() - asked_ < std::chrono::seconds(5)) return std::nullopt;
    const RemoteBrowser::Look look = browser_->look(std::chrono::seconds(2));
    asked_ = Clock::now();
    if (look.life == RemoteBrowser::Life::gone) return "was lost: " + look.why;
    return std::nullopt;
  }

 private:
  Server& server_;
  HostInfo host_;
  std::optional<RemoteBrowser> browser_;
  Job* job_ = nullptr;  // of open()
  Clock::time_point asked_ = Clock::now();
};

Result<std::unique_ptr<BenchPage>> web_driver_bench_page(Server& server, const Target& target,
                                                         const WebDriverOptions& options,
                                                         const StopCheck& stop) {
  DRIFTSCOPE_TRY(const WebDriverTarget found, find_web_driver_target(target, options));
  auto browser = RemoteBrowser::start(found.address, found.capabilities, [&] { return !stop || !stop(); });
  if (!browser.ok()) return in_context(std::move(browser).error(), target.host);
  HostInfo host;
  host.host = target.host;
  host.label = "a browser of " + found.address.text();
  host.version = browser->version();
  return std::unique_ptr<BenchPage>(new RemoteBrowserPage(server, std::move(host), *std::move(browser)));
}

}  // namespace

Result<std::unique_ptr<BenchPage>> bench_page(Server& server, const Target& target,
                                              const WebDriverOptions& web_driver, const StopCheck& stop) {
  if (is_web_driver(target.host)) return web_driver_bench_page(server, target, web_driver, stop);
  if (is_remote(target)) {
    DRIFTSCOPE_TRY(RemoteDevice device, RemoteDevice::find(target));
    return std::unique_ptr<BenchPage>(new DevicePage(server, std::move(device)));
  }
  DRIFTSCOPE_TRY(HostInfo host, probe_target_host(target));
  return std::unique_ptr<BenchPage>(new BrowserPage(server, std::move(host)));
}

}  // namespace driftscope
