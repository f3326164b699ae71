// The largest single allocation within a scope, so that tests can check that hostile sizes in a file never
// reach the allocator. Clients: tests of readers. It replaces the global operator new of the tests.
#pragma once

#include <cstddef>

namespace driftscope::test {

class AllocationWatch {
 public:
  AllocationWatch();  ///< starts at zero; scopes do not nest
  [[nodiscard]] std::size_t largest() const;
};

}  // namespace driftscope::test
