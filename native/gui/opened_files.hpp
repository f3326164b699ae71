// What a person opens or drops: which kind of file each is, and what they are together.
// Client: desktop_host. It runs nothing but the judge.
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

/// By the name's ending; what has none that is known is looked into.
[[nodiscard]] FileKind kind_of_file(const std::filesystem::path& path);

/// A trace, mapped: its tensors are read when they are looked at.
[[nodiscard]] Result<gui::TargetParts> open_trace(const std::filesystem::path& path);

[[nodiscard]] Result<std::vector<gui::TargetParts>> open_comparison(const std::filesystem::path& path);

/// The SHA-256 of the model that a target's run says it ran; empty when it does not say.
[[nodiscard]] std::string model_of(const gui::TargetParts& parts);

/// Judges each target that has tensors and no verdicts yet; one that cannot be judged says why in its
/// `error` only when nothing of it can be compared. `told` false stops.
void judge_targets(
    std::vector<gui::TargetParts>& targets, const ModelFile& model,
    const std::function<bool(const std::string& target, std::int64_t done, std::int64_t total)>& told);

}  // namespace driftscope
