// A target that is to be measured, on whichever host. Clients: bench, memory_runs.
#pragma once

#include <memory>

#include "native/bench/subject.hpp"
#include "native/http/server.hpp"

namespace driftscope {

/// Whether the target's host can be measured: in a browser, or in a process of a program.
[[nodiscard]] bool can_be_measured(const Target& target);

/// `server` is started for the first browser. Limits of time and the site come from `runner`. Errors: those
/// of open_browser_subject and open_local_subject; unsupported for another host.
[[nodiscard]] Result<std::unique_ptr<Subject>> open_subject(SubjectSpec spec, const RunnerOptions& runner,
                                                            std::unique_ptr<Server>& server,
                                                            const StopCheck& stop, BenchRow& row);

}  // namespace driftscope
