// What the control groups (cgroups, versions 1 and 2) that this process is in still allow. Clients:
// resource_limits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace driftscope {

/// Bytes that the narrowest of the groups can still take, at least 1; 0: none has a limit. Pages of files
/// count as free: the kernel gives them back when asked. `mounted`: where groups are seen (/sys/fs/cgroup);
/// `own`: the text of /proc/self/cgroup. A group that is not seen there is passed over, as in a container,
/// which sees its own as the root.
[[nodiscard]] std::int64_t free_in_memory_groups(const std::filesystem::path& mounted, std::string_view own);

}  // namespace driftscope
