// A target that is to be measured, on whichever host. Clients: bench, memory_runs.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "native/bench/subject.hpp"
#include "native/http/server.hpp"

namespace driftscope {

/// Whether the target's host can be measured: in a browser, or in a process of a program.
[[nodiscard]] bool can_be_measured(const Target& target);

/// Servers for browsers, one for each site, and one for those of a WebDriver; started when first needed.
using SiteServers = std::map<std::pair<std::filesystem::path, bool>, std::shared_ptr<Server>>;

/// Limits of time and the site come from `runner`. Errors: those of open_browser_subject and
/// open_local_subject; unsupported for another host, and for one that the other build of `spec` lacks.
[[nodiscard]] Result<std::unique_ptr<Subject>> open_subject(SubjectSpec spec, const RunnerOptions& runner,
                                                            SiteServers& servers, const StopCheck& stop,
                                                            BenchRow& row);

}  // namespace driftscope
