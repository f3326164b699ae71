// What control groups leave: the narrowest counts, and files that the kernel keeps in memory are free.
#include "native/os/memory_group.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "native/os/temp_folder.hpp"

namespace driftscope::test::memory_group_test {
namespace {

namespace fs = std::filesystem;

void put(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text << '\n';
}

TEST_CASE("MemoryGroup_LimitsAboveAndBelow_NarrowestCounts") {
  const auto mounted = TempFolder::make();
  REQUIRE(mounted.ok());
  const fs::path& root = mounted->path();
  put(root / "user/memory.max", "5000");
  put(root / "user/memory.current", "1000");
  put(root / "user/job/memory.max", "9000");
  put(root / "user/job/memory.current", "4500");
  put(root / "user/job/step/memory.max", "max");
  put(root / "other/memory.max", "10");
  CHECK(free_in_memory_groups(root, "0::/user/job/step\n") == 4000);
  put(root / "user/job/memory.current", "6000");
  CHECK(free_in_memory_groups(root, "0::/user/job/step\n") == 3000);
  CHECK(free_in_memory_groups(root, "0::/\n") == 0);
  put(root / "user/job/memory.current", "99999");
  CHECK_MESSAGE(free_in_memory_groups(root, "0::/user/job/step\n") == 1, "full is not the same as no limit");
}

TEST_CASE("MemoryGroup_Throttled_CountsAsALimit") {
  const auto mounted = TempFolder::make();
  REQUIRE(mounted.ok());
  put(mounted->path() / "memory.max", "max");
  put(mounted->path() / "memory.high", "700");
  put(mounted->path() / "memory.current", "200");
  CHECK(free_in_memory_groups(mounted->path(), "0::/") == 500);
}

TEST_CASE("MemoryGroup_PagesOfFiles_AreFree") {
  const auto mounted = TempFolder::make();
  REQUIRE(mounted.ok());
  put(mounted->path() / "memory.max", "1000");
  put(mounted->path() / "memory.current", "990");
  put(mounted->path() / "memory.stat", "anon 90\nactive_file 300\ninactive_file 600\nslab 5");
  CHECK(free_in_memory_groups(mounted->path(), "0::/") == 910);
}

TEST_CASE("MemoryGroup_ContainerThatSeesItsOwnAsRoot_ReadsTheRoot") {
  const auto mounted = TempFolder::make();
  REQUIRE(mounted.ok());
  put(mounted->path() / "memory.max", "1000");
  put(mounted->path() / "memory.current", "400");
  CHECK(free_in_memory_groups(mounted->path(), "0::/docker/4f5e\n") == 600);
  CHECK(free_in_memory_groups(mounted->path(), "0::/../../elsewhere\n") == 0);
}

TEST_CASE("MemoryGroup_VersionOne_IsReadWhereMemoryIsMounted") {
  const auto mounted = TempFolder::make();
  REQUIRE(mounted.ok());
  const fs::path memory = mounted->path() / "memory";
  put(memory / "memory.limit_in_bytes", "9223372036854771712");
  put(memory / "job/memory.limit_in_bytes", "8000");
  put(memory / "job/memory.usage_in_bytes", "3000");
  put(memory / "job/memory.stat", "inactive_file 1\ntotal_inactive_file 500");
  CHECK(free_in_memory_groups(mounted->path(), "9:name=systemd:/job\n4:memory:/job\n0::/\n") == 5500);
  CHECK(free_in_memory_groups(mounted->path(), "4:memory:/\n") == 0);
}

TEST_CASE("MemoryGroup_TextThatIsNone_IsNoLimit") {
  for (const char* own : {"", "\n", ":", "0", "0:", "0::", "::/x", "4:memory:../..", "4:memory"})
    CHECK(free_in_memory_groups("/nowhere", own) == 0);
}

}  // namespace
}  // namespace driftscope::test::memory_group_test
