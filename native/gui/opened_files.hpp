// What a person opens or drops: which kind of file each is, and what they are together.
// Client: desktop_host. It runs verification only, no engine under test.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/gui/snapshot.hpp"
#include "native/host/model_file.hpp"

namespace driftscope {

enum class FileKind { model, trace, comparison, sample, unknown };

/// By the extension of the name; if it is unknown, by the contents.
[[nodiscard]] FileKind kind_of_file(const std::filesystem::path& path);

/// A trace, memory-mapped: its tensors are read when they are shown.
[[nodiscard]] Result<gui::TargetParts> open_trace(const std::filesystem::path& path);

[[nodiscard]] Result<std::vector<gui::TargetParts>> open_comparison(const std::filesystem::path& path);

/// The SHA-256 of the model that a target's run recorded; empty when it recorded none.
[[nodiscard]] std::string model_of(const gui::TargetParts& parts);

/// Judges each target that has tensors and no verdicts yet; one that cannot be judged says why in its
/// `error` only when nothing of it can be compared. `told` false stops.
void verify_targets(
    std::vector<gui::TargetParts>& targets, const ModelFile& model,
    const std::function<bool(const std::string& target, std::int64_t done, std::int64_t total)>& told);

}  // namespace driftscope
