// A target in a browser: a browser of its own, whose page loads the model and then answers requests.
// Client: bench.
#pragma once

#include "native/bench/subject.hpp"
#include "native/http/server.hpp"

namespace driftscope {

/// Starts the browser, has the model loaded and run once, and writes the results into `row`.
/// Errors: missing when the browser is absent, dies or hangs; what the page reported; cancelled.
/// The server must serve no other client meanwhile: everything it sends counts as this target's download.
[[nodiscard]] Result<std::unique_ptr<Subject>> open_browser_subject(Server& server, const SubjectSpec& spec,
                                                                    const StopCheck& stop, BenchRow& row);

}  // namespace driftscope
