// What a sandbox needs of the kernel. Client: chromium_sandbox.
#pragma once

namespace driftscope {

/// Whether a process may make a user namespace, and with the rights in there others: asked by doing it.
/// (AppArmor of Ubuntu allows the first and forbids the second.) True where there is no such thing.
[[nodiscard]] bool may_make_namespaces();

/// Whether a program of root's may get root's rights when it is started from here: a container that takes
/// away the right to administrate, or forbids programs to gain any, takes it away as well.
[[nodiscard]] bool may_gain_rights();

}  // namespace driftscope
