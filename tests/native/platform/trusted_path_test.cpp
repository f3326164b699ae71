// What others may change is not loaded.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "native/os/temp_folder.hpp"
#include "native/platform/trusted_path.hpp"

namespace driftscope::test::trusted_path_test {
namespace {

namespace fs = std::filesystem;

TEST_CASE("WhyUntrusted_FileOrFolderThatOthersMayWrite_SaysWhich") {
  const auto temp = *TempFolder::make();
  const fs::path folder = temp.path() / "lib";
  fs::create_directory(folder);
  const fs::path library = folder / "library.so";
  std::ofstream(library) << "code";
  chmod(library.c_str(), 0644);
  CHECK(why_untrusted(library).empty());  // below a sticky /tmp
  chmod(library.c_str(), 0666);
  CHECK(why_untrusted(library).find("every user may write to") != std::string::npos);
  chmod(library.c_str(), 0644);
  chmod(folder.c_str(), 0777);
  CHECK(why_untrusted(library).find(fs::canonical(folder).string()) != std::string::npos);
  chmod(folder.c_str(), 0755);
  CHECK_FALSE(why_untrusted(folder / "absent").empty());
  if (geteuid() != 0) {
    MESSAGE("the rest is skipped: only root can give a file away");
    return;
  }
  REQUIRE(chown(folder.c_str(), 65534, 65534) == 0);
  CHECK(why_untrusted(library).find("belongs to another user (65534)") != std::string::npos);
}

}  // namespace
}  // namespace driftscope::test::trusted_path_test
