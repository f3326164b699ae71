// Files whole or not at all: what killed programs left, and what others are writing now.
#include "native/os/atomic_file.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "native/os/files.hpp"
#include "native/os/folders.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope::test::atomic_file_test {
namespace {

namespace fs = std::filesystem;

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

TEST_CASE("AtomicFile_LeftByAKilledProgram_IsRemovedByTheNextWriter" * doctest::test_suite("posix")) {
  const auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  for (const char* left : {".t.safetensors.driftscope-aB3xyZ", ".r.json.driftscope-000000"})
    std::ofstream(folder->path() / left) << "half";
  const std::set<std::string> of_the_user = {".r.json.driftscope-00000", "r.json.driftscope-000000",
                                             ".r.json.driftscope-000000.txt", ".driftscope-000000"};
  for (const std::string& name : of_the_user) std::ofstream(folder->path() / name) << "mine";
  fs::create_directory(folder->path() / ".folder.driftscope-000000");
  fs::create_symlink("nowhere", folder->path() / ".link.driftscope-000000");
  REQUIRE(write_file(folder->path() / "new", "text").ok());
  std::set<std::string> expected = of_the_user;
  expected.insert({"new", ".folder.driftscope-000000", ".link.driftscope-000000"});
  CHECK(names_in(folder->path()) == expected);
}

TEST_CASE("AtomicFile_BeingWritten_IsNotRemovedByOtherWriters") {
  const auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  auto file = AtomicFile::create(folder->path() / "slow");
  REQUIRE(file.ok());
  REQUIRE(write_file(folder->path() / "slow", "fast").ok());
  REQUIRE(file->append(std::as_bytes(std::span("slow", 4))).ok());
  REQUIRE_MESSAGE(file->commit().ok(), "its temporary file is gone");
  CHECK(read_file(folder->path() / "slow")->size() == 4);
  CHECK(names_in(folder->path()) == std::set<std::string>{"slow"});
}

TEST_CASE("AtomicFile_LongName_IsWrittenAllTheSame") {
  const auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  const std::string name(255, 'n');
  CHECK(write_file(folder->path() / name, "text").ok());
  CHECK(names_in(folder->path()) == std::set<std::string>{name});
}

TEST_CASE("MakeFolders_SomeMissing_AreMadeAndOthersKept") {
  const auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  std::ofstream(folder->path() / "file") << "text";
  CHECK(make_folders(folder->path() / "a" / "b/").ok());
  CHECK(make_folders(folder->path() / "a").ok());
  CHECK(fs::is_directory(folder->path() / "a" / "b"));
  const Status below_a_file = make_folders(folder->path() / "file" / "c");
  REQUIRE_FALSE(below_a_file.ok());
  CHECK(below_a_file.error().message.find("file/c") != std::string::npos);
}

}  // namespace
}  // namespace driftscope::test::atomic_file_test
