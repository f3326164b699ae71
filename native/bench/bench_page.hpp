// Who opens the page that a browser subject measures: a browser that is started for it, or a device of the
// hub. Client: browser_subject.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "native/browser/browsers.hpp"
#include "native/browser/web_driver_options.hpp"
#include "native/host/run_request.hpp"
#include "native/http/job.hpp"
#include "native/http/server.hpp"

namespace driftscope {

class BenchPage {
 public:
  virtual ~BenchPage() = default;
  [[nodiscard]] virtual const HostInfo& host() const = 0;
  /// Has the job opened, which must outlive the page; once more, it is as if it had not been before.
  [[nodiscard]] virtual Status open(Job& job) = 0;
  /// Whether open() may be called again for a job that was not opened in time, after end().
  [[nodiscard]] virtual bool opens_again() const = 0;
  virtual void end() = 0;
  /// Why it cannot answer any more, as the end of a sentence that begins with the host; nothing while it may.
  [[nodiscard]] virtual std::optional<std::string> ended() = 0;
  virtual void wait_until_idle() {}
  /// PSS of all its processes, and of the one for the GPU; 0: not known.
  [[nodiscard]] virtual std::int64_t memory() const { return 0; }
  [[nodiscard]] virtual std::int64_t gpu_process_memory() const { return 0; }
  /// What disturbed it, a line each; nothing where it does not see that.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
};

/// Errors: the browser or the device is not here; cancelled, while it waits for a WebDriver's.
[[nodiscard]] Result<std::unique_ptr<BenchPage>> bench_page(Server& server, const Target& target,
                                                            const WebDriverOptions& web_driver,
                                                            const StopCheck& stop);

}  // namespace driftscope
