// What disturbed a run on a device of the hub, as its page saw it: what traces have of it, and what is said
// of it. Clients: the host remote, bench_page.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/trace/trace.hpp"
#include "generated/documents/run_conditions.hpp"

namespace driftscope {

/// A line for each condition that may have changed times or ended pages; none where all was well.
[[nodiscard]] std::vector<std::string> condition_notes(const documents::RunConditions& seen);

/// Whether times rose from first to last, as where a processor becomes hot: the sentence, else empty.
[[nodiscard]] std::string rise_text(std::span<const double> times, const documents::RunConditions& seen);

/// The document as a device has sent it; nothing where it is none.
[[nodiscard]] std::optional<documents::RunConditions> read_conditions(const nlohmann::json& said);

/// "conditions" of the trace's `run`, and what is to be said of them as notes; nothing where what the device
/// said is not such a document.
void add_conditions(Trace& trace, const nlohmann::json& said);

}  // namespace driftscope
