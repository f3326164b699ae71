// Private folders, and those that a killed process left.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "native/os/temp_folder.hpp"

namespace driftscope::test::temp_folder_test {
namespace {

namespace fs = std::filesystem;

// Everything happens in a folder of this test.
struct OwnTmp {
  OwnTmp() : outer(*TempFolder::make()) { setenv("TMPDIR", outer.path().c_str(), 1); }
  ~OwnTmp() { unsetenv("TMPDIR"); }
  OwnTmp(const OwnTmp&) = delete;
  OwnTmp& operator=(const OwnTmp&) = delete;
  [[nodiscard]] fs::path add(const std::string& name) const {
    fs::create_directory(outer.path() / name);
    std::ofstream(outer.path() / name / "file") << "text";
    return outer.path() / name;
  }
  TempFolder outer;
};

TEST_CASE("TempFolder_LeftByAKilledProcess_IsRemovedByTheNext" * doctest::test_suite("posix")) {
  const OwnTmp tmp;
  // A living process's number: in another container it belongs to another process.
  const fs::path left = tmp.add("driftscope-1-abcdef");
  const auto mine = TempFolder::make();
  REQUIRE(mine.ok());
  CHECK_FALSE(fs::exists(left));
  CHECK(fs::exists(mine->path()));
}

// A process that does nothing, with this variable in its environment.
pid_t start_idle(const std::string& variable) {
  const pid_t pid = fork();
  if (pid == 0) {
    char program[] = "sleep";
    char seconds[] = "1006";
    std::string text = variable;
    char* const arguments[] = {program, seconds, nullptr};
    char* const environment[] = {text.data(), nullptr};
    execve("/bin/sleep", arguments, environment);
    _exit(127);
  }
  return pid;
}

TEST_CASE("TempFolder_LeftWithAStoppedProcess_EndsThatAndNoOther" * doctest::test_suite("posix")) {
  const OwnTmp tmp;
  const fs::path left = tmp.add("driftscope-1-abcdef");
  const pid_t of_it = start_idle("TMPDIR=" + (left / "tmp").string());
  const pid_t reader = start_idle("FILE=" + (left / "file").string());
  const pid_t longer = start_idle("TMPDIR=" + left.string() + "x/tmp");
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  kill(of_it, SIGSTOP);
  CHECK(TempFolder::make().ok());
  CHECK_FALSE(fs::exists(left));
  int how = 0;
  CHECK(waitpid(of_it, &how, WNOHANG) == of_it);
  CHECK(WIFSIGNALED(how));
  for (const pid_t pid : {reader, longer}) {
    CHECK(waitpid(pid, nullptr, WNOHANG) == 0);
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
}

TEST_CASE("TempFolder_OfALivingProcessInAnotherContainer_Stays") {
  const OwnTmp tmp;
  // No process has this number here, but the folder is locked, as its owner lives.
  const fs::path used = tmp.add("driftscope-4194304-abcdef");
  const int lock = open(used.c_str(), O_RDONLY | O_DIRECTORY);
  REQUIRE(flock(lock, LOCK_EX) == 0);
  CHECK(TempFolder::make().ok());
  CHECK(fs::exists(used / "file"));
  close(lock);
}

TEST_CASE("TempFolder_NoDescriptorLeft_IsRemovedAllTheSame" * doctest::test_suite("posix")) {
  auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  const fs::path path = folder->path();
  fs::create_directories(path / "a/b/c/d");
  std::ofstream(path / "a/b/c/d/file") << "text";
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit few = before;
  few.rlim_cur = 64;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
  std::vector<int> taken;
  while (true) {
    const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd < 0) break;
    taken.push_back(fd);
  }
  {
    const TempFolder ended = *std::move(folder);
  }
  for (const int fd : taken) ::close(fd);
  setrlimit(RLIMIT_NOFILE, &before);
  CHECK(!taken.empty());
  CHECK_FALSE(fs::exists(path));
}

TEST_CASE("TempFolder_OfAUserWithASimilarName_Stays") {
  const OwnTmp tmp;
  const fs::path source = tmp.add("driftscope-source-abcdef");
  const fs::path other = tmp.add("driftscope-12-abcdefgh");
  CHECK(TempFolder::make().ok());
  CHECK(fs::exists(source));
  CHECK(fs::exists(other));
}

TEST_CASE("TempFolder_WhileItLives_IsKeptByOthers") {
  const OwnTmp tmp;
  const auto first = TempFolder::make();
  const auto second = TempFolder::make();
  REQUIRE(first.ok());
  REQUIRE(second.ok());
  CHECK(fs::exists(first->path()));
}

}  // namespace
}  // namespace driftscope::test::temp_folder_test
