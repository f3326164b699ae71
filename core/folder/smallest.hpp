// Which variant of a part is the smallest that keeps the answers on all targets. The rule: it runs
// everywhere, no layer is a fault, and everywhere its answer is that of the reference variant: the same
// prediction where the first output is one (classes, a map, tokens), else a drift within the tolerance.
// Targets on which no variant ran are left out. A pure function. Client: native/cli/folder_run.
#pragma once

#include "generated/documents/folder.hpp"

namespace driftscope {

/// Fills in rule, smallest, conclusion and excluded from the variants and their cells.
void conclude(documents::FolderPart& part, const documents::Folder& folder);

}  // namespace driftscope
