// A temporary file without a name: whatever ends the program, nothing of it is left. Client: SpilledValues.
#pragma once

#include "core/base/result.hpp"
#include "native/os/file_descriptor.hpp"

namespace driftscope {

/// For reading and writing, in $TMPDIR, else /var/tmp (which is on a disk where /tmp may be memory), else
/// /tmp. The error is the system's message alone.
[[nodiscard]] Result<FileDescriptor> open_unnamed_file();

}  // namespace driftscope
