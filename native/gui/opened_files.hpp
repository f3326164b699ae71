// Files that a person opens or drops: the kind of each, and how they belong together.
// Client: desktop_host. It runs verification only, no engine under test.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/gui/snapshot.hpp"
#include "native/host/kept_file.hpp"
#include "native/host/model_file.hpp"

namespace driftscope {

enum class FileKind { model, trace, comparison, kept, study, attack, generation, curves, sample, unknown };

/// By the extension of the name; if it is unknown, by the contents.
[[nodiscard]] FileKind kind_of_file(const std::filesystem::path& path);

/// A trace, memory-mapped: its tensors are read when they are shown.
[[nodiscard]] Result<gui::TargetParts> open_trace(const std::filesystem::path& path);

[[nodiscard]] Result<gui::SnapshotParts> open_comparison(const std::filesystem::path& path);

/// The parts of a kept comparison, memory-mapped.
[[nodiscard]] Result<gui::SnapshotParts> open_kept(const KeptFile& file);

/// The SHA-256 of the model according to a target's run; empty if not recorded.
[[nodiscard]] std::string model_of(const gui::TargetParts& parts);

/// Judges each target that has tensors and no verdicts yet; one that cannot be judged says why in its
/// `error` only if it has no comparison either. If `on_progress` returns false, it stops.
void verify_targets(
    std::vector<gui::TargetParts>& targets, const ModelFile& model,
    const std::function<bool(const std::string& target, std::int64_t done, std::int64_t total)>& on_progress);

}  // namespace driftscope
