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

TEST_CASE("ReadInside_PipeOrDevice_IsRefusedAtOnce") {
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
