// A trace that was recorded before: file/PATH.
#include "native/host/host.hpp"
#include "core/trace/trace_file.hpp"
#include "core/verify/name_match.hpp"
#include "core/verify/type_match.hpp"
#include "native/os/files.hpp"

namespace driftscope::hosts::file {
namespace {

class Session final : public HostSession {
 public:
  explicit Session(Target target) : target_(std::move(target)) {}

  Result<Trace> run(const RunRequest& request, const TargetProgress&) override {
    DRIFTSCOPE_TRY(const Bytes bytes, read_file(target_.engine));
    auto trace = read_trace(bytes);
    if (!trace.ok()) return in_context(std::move(trace).error(), target_.engine);
    const Graph& graph = request.model->graph;
    rename_values(graph, match_names(graph, TraceView(*trace)), *trace);
    DRIFTSCOPE_CHECK(convert_types(match_types(graph, TraceView(*trace)), *trace));
    return trace;
  }
  Result<std::vector<CaseRun>> run_all(std::span<const RunRequest>, const TargetProgress&) override {
    return bad_input("target " + target_.text() + ": a file holds one run of one model; it runs nothing");
  }

 private:
  Target target_;
};

class File final : public Host {
 public:
  const HostFacts& facts() const override { return facts_; }
  Result<std::string> version() const override { return std::string("recorded traces"); }
  bool can_run(const EngineInfo&) const override { return false; }
  Result<std::unique_ptr<HostSession>> open(const Target& target, HostContext&) const override {
    return std::unique_ptr<HostSession>(new Session(target));
  }

 private:
  const HostFacts facts_{.name = "file", .order = 90, .runs = false};
};

}  // namespace

void add_to(HostTable& table) { table.add(std::make_unique<File>()); }

}  // namespace driftscope::hosts::file
