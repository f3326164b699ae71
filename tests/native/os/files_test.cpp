// Files that a model names: inside its folder, regular, never waited for.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "native/os/files.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope::test::files_test {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() : temp(*TempFolder::make()), model(temp.path() / "model") {
    fs::create_directories(model / "below");
    std::ofstream(temp.path() / "secret") << "secret";
    std::ofstream(model / "weights") << "weights";
  }
  TempFolder temp;
  fs::path model;
};

std::string text_of(const Result<std::vector<std::byte>>& bytes) {
  REQUIRE_MESSAGE(bytes.ok(), bytes.error().message);
  return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
}

TEST_CASE("ReadInside_LinkOutOfTheFolder_IsRefusedUnlessAllowed") {
  const Folder folder;
  fs::create_symlink("../secret", folder.model / "data");
  fs::create_directory_symlink("..", folder.model / "up");
  fs::create_symlink("../weights", folder.model / "below" / "inside");
  const auto linked = read_inside(folder.model, "data");
  REQUIRE_FALSE(linked.ok());
  CHECK(linked.error().message.find("leads out of its folder") != std::string::npos);
  CHECK(linked.error().message.find("DRIFTSCOPE_MODEL_ROOT") != std::string::npos);
  CHECK_FALSE(read_inside(folder.model, "up/secret").ok());
  CHECK_FALSE(read_inside(folder.model, "../secret").ok());
  CHECK(text_of(read_inside(folder.model, "weights")) == "weights");
  CHECK(text_of(read_inside(folder.model, "below/inside")) == "weights");
  setenv("DRIFTSCOPE_MODEL_ROOT", folder.temp.path().c_str(), 1);
  CHECK(text_of(read_inside(folder.model, "data")) == "secret");
  setenv("DRIFTSCOPE_MODEL_ROOT", folder.model.c_str(), 1);
  CHECK_FALSE(read_inside(folder.model, "data").ok());
  unsetenv("DRIFTSCOPE_MODEL_ROOT");
}

TEST_CASE("ShareInside_LargeFile_IsMapped" * doctest::test_suite("posix")) {
  const Folder folder;
  const fs::path path = folder.model / "large";
  std::ofstream(path) << "begin";
  fs::resize_file(path, static_cast<std::uintmax_t>(min_mapped_bytes) + 4096);  // no disk is used for it
  const auto large = share_inside(folder.model, "large");
  REQUIRE_MESSAGE(large.ok(), large.error().message);
  CHECK(large->size() == static_cast<std::size_t>(min_mapped_bytes) + 4096);
  std::ifstream maps("/proc/self/maps");
  const std::string all(std::istreambuf_iterator<char>(maps), {});
  CHECK(all.find(path.string()) != std::string::npos);
  CHECK(static_cast<char>(large->bytes()[1]) == 'e');
  large->release();
  CHECK(static_cast<char>(large->bytes()[1]) == 'e');
  // Tensors may lie at its end.
  const auto last = large->source().in_place(large->size() - 64, 64, SharedBytes::readable_behind);
  REQUIRE(last != nullptr);
  CHECK(last.get()[64] == std::byte{0});
  const auto small = share_inside(folder.model, "weights");
  REQUIRE(small.ok());
  std::ofstream(folder.model / "weights") << "changed";
  CHECK(std::string(reinterpret_cast<const char*>(small->data()), small->size()) == "weights");
}

TEST_CASE("ReadInside_PipeOrDevice_IsRefusedAtOnce" * doctest::test_suite("posix")) {
  const Folder folder;
  REQUIRE(mkfifo((folder.model / "pipe").c_str(), 0600) == 0);
  fs::create_symlink("/dev/zero", folder.model / "device");
  for (const char* name : {"pipe", "device", "below"}) {
    const auto read = read_inside(folder.model, name);
    REQUIRE_FALSE(read.ok());
    CHECK(read.error().message.find("not a regular file") != std::string::npos);
  }
}

}  // namespace
}  // namespace driftscope::test::files_test
