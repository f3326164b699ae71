// Where targets run: this PC, a browser, Node, a file that holds what ran elsewhere. A host is a folder in
// hosts/: each hosts/FOO/host.cpp defines `void driftscope::hosts::foo::add_to(HostTable&)`; the table is
// generated from the folders at configure time, never edited. Clients: TargetRunner, targets, doctor, the
// window's list of targets.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/runtime/engine.hpp"
#include "core/runtime/programs.hpp"
#include "core/runtime/target.hpp"
#include "native/host/browser_cases.hpp"
#include "native/host/run_request.hpp"
#include "native/http/server.hpp"

namespace driftscope {

struct HostFacts {
  std::string name;  ///< in targets: "chrome"
  int order = 50;    ///< in lists, ascending
  /// Whether it runs models; a file does not.
  bool runs = true;
  /// Whether comparisons and bench can do without: it is not missed where it is absent.
  bool optional = false;
};

/// What sessions of one command share.
class HostContext {
 public:
  explicit HostContext(RunnerOptions given) : options(std::move(given)) {}
  /// Serves the page to browsers; started when it is first asked for.
  [[nodiscard]] Result<Server*> server();
  /// The same for browsers of a WebDriver, which may need a fixed port: then all contexts share one server.
  [[nodiscard]] Result<Server*> web_driver_server();

  const RunnerOptions options;

 private:
  std::unique_ptr<Server> server_;
  std::shared_ptr<Server> web_driver_server_;
};

/// A host that is ready for one target and runs as often as it is asked. Destroying it ends what it has
/// started.
class HostSession {
 public:
  virtual ~HostSession() = default;
  /// Blocks until the run is over.
  [[nodiscard]] virtual Result<Trace> run(const RunRequest& request, const TargetProgress& progress) = 0;
  /// Many small models, each with its own outcome: only outputs are kept; samples and repeats are not
  /// supported. One after the other where the host has nothing better. The error is that of the target as a
  /// whole.
  [[nodiscard]] virtual Result<std::vector<CaseRun>> run_all(std::span<const RunRequest> requests,
                                                             const TargetProgress& progress);
  /// What the target's engine makes for a node of the request's model; nothing runs. Blocks until it is
  /// known. unsupported where the host cannot tell.
  [[nodiscard]] virtual Result<NodePrograms> programs(const RunRequest& request, NodeId node,
                                                      const TargetProgress& progress);
  /// Lets go of the model of RunRequest::keeps_prepared.
  virtual void drop_prepared() {}
};

class Host {
 public:
  virtual ~Host() = default;
  [[nodiscard]] virtual const HostFacts& facts() const = 0;
  /// What it is and its version, "Chromium 156.0.1"; or why it is not here, and what to do.
  [[nodiscard]] virtual Result<std::string> version() const = 0;
  /// As targets name it: its own name; of devices one each, and none where none is there.
  [[nodiscard]] virtual std::vector<std::string> names() const { return {facts().name}; }
  /// Whether such a host can run the engine at all.
  [[nodiscard]] virtual bool can_run(const EngineInfo& engine) const = 0;
  /// Whether this one can, for an engine that it can run at all: with what, or why not.
  [[nodiscard]] virtual Availability runs(const Engine& /*engine*/) const { return {true, ""}; }
  /// The program whose hidden command worker runs the host's targets in processes of their own, as bench
  /// needs them: the first arguments of a ProcessSpec. Empty: this host has none.
  [[nodiscard]] virtual Result<std::vector<std::string>> worker_program() const {
    return std::vector<std::string>();
  }
  /// `context` must outlive the session.
  [[nodiscard]] virtual Result<std::unique_ptr<HostSession>> open(const Target& target,
                                                                  HostContext& context) const = 0;
};

class HostTable {
 public:
  void add(std::unique_ptr<Host> host);
  /// In their order.
  [[nodiscard]] std::span<const std::unique_ptr<Host>> all() const { return hosts_; }

 private:
  std::vector<std::unique_ptr<Host>> hosts_;
};

/// All of this build (generated: build/generated/hosts/host_registry.cpp).
[[nodiscard]] const HostTable& host_table();

/// Where something runs when nothing is said, and for which this program itself is: "pc", under Node "node".
[[nodiscard]] std::string_view default_host();

/// The error lists those that there are.
[[nodiscard]] Result<const Host*> find_host(const Target& target);

}  // namespace driftscope
