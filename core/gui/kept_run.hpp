// A kept comparison as the parts of a snapshot: it shows what the live run showed, its tensors are read in
// place. Clients: the window, the page's screens.
#pragma once

#include <memory>

#include "core/gui/snapshot.hpp"
#include "core/kept/kept_comparison.hpp"

namespace driftscope::gui {

/// `owner` keeps the comparison's bytes alive as long as something shows them.
[[nodiscard]] Result<SnapshotParts> parts_of(const KeptComparison& kept,
                                             const std::shared_ptr<const void>& owner);

}  // namespace driftscope::gui
