// The page's data for the GUI, as JSON, and the GUI's requests to the page. Client: entry.
//
// feed: {"models":["lenet5"],"model":0,"input":"…","samples":450,"sample":7,"busy":false,"doing":"…",
//        "error":"…","targets":[{"target","available","detail","by_default"}],
//        "history":[{"title","where","builds":[{"build","first_seen","times_ns":[…]}]}],  (none: unchanged)
//        "progress":[{"target","state":"waiting|running|done|failed","step","done","total","error"}]}
// run:  {"title","model_sha256","input","label","dataset","class_names":["…"],"topology":[…] (topology.hpp),
//        "comparisons":[driftscope-compare-1, …]}
#pragma once

#include <imgui.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/gui/feed.hpp"

namespace driftscope {

[[nodiscard]] Result<gui::Feed> read_page_feed(std::string_view json);

/// The traces' targets, with their results from the comparisons.
[[nodiscard]] Result<gui::SnapshotParts> read_page_run(
    std::string_view json, std::vector<std::shared_ptr<const gui::RecordedTensors>> traces);

[[nodiscard]] std::string page_command(const char* what, std::int64_t number);
[[nodiscard]] std::string run_command(const gui::RunChoice& choice);

/// ImGui's key for KeyboardEvent.code: "KeyK", "Digit1", "ArrowDown".
[[nodiscard]] ImGuiKey key_of_code(std::string_view code);

}  // namespace driftscope
