#include "native/os/background_file.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <span>
#include <vector>

#include "native/os/temp_folder.hpp"

namespace driftscope::test::background_file_test {
namespace {

Tensor filled(std::int64_t count, float value) {
  auto tensor = Tensor::make(DType::float32, {count});
  REQUIRE(tensor.ok());
  std::ranges::fill(tensor->mutable_values<float>(), value);
  return *tensor;
}

struct Beside {
  TempFolder folder = *TempFolder::make();
  std::filesystem::path path = folder.path() / "file";
  BackgroundFile open() { return BackgroundFile(*AtomicFile::create(path)); }
  [[nodiscard]] bool empty() const { return std::filesystem::is_empty(folder.path()); }
};

/// Limits the size of this process's files to `bytes` during its lifetime.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before_) == 0);
    const rlimit now{bytes, before_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &now) == 0);
  }
  ~FileLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
  void (*signal_)(int);
};

}  // namespace

TEST_CASE("BackgroundFile_MoreThanMayWait_IsWrittenInOrder") {
  constexpr std::int64_t count = 4 << 20;  // 16 MB each
  Beside beside;
  BackgroundFile file = beside.open();
  for (int i = 0; i < 9; ++i) REQUIRE(file.append(filled(count, static_cast<float>(i))).ok());
  auto written = file.finish();
  REQUIRE(written.ok());
  for (int i = 0; i < 9; ++i) {
    float last = -1;
    REQUIRE(written->read_at((i + 1) * count * 4 - 4, std::as_writable_bytes(std::span(&last, 1))).ok());
    CHECK(last == static_cast<float>(i));
  }
  REQUIRE(written->commit().ok());
  CHECK(std::filesystem::file_size(beside.path) == 9 * count * 4);
}

TEST_CASE("BackgroundFile_DeferredTensor_IsWrittenInPiecesOfItsGrain") {
  constexpr std::int64_t count = 1'000'003;
  const Tensor whole = [] {
    Tensor made = filled(count, 0);
    float next = 0;
    for (float& x : made.mutable_values<float>()) x = next++;
    return made;
  }();
  for (const std::uint64_t grain :
       {std::uint64_t{1}, std::uint64_t{12'000}, std::uint64_t{3} << 20, std::uint64_t{1} << 40}) {
    CAPTURE(grain);
    ByteSource source = source_of(whole.bytes());
    source.grain = grain;
    std::vector<std::uint64_t> offsets;
    source.read = [&offsets, read = source.read](std::uint64_t offset, std::span<std::byte> target) {
      offsets.push_back(offset);
      read(offset, target);
    };
    const auto deferred = Tensor::deferred(DType::float32, {count}, source);
    REQUIRE(deferred.ok());
    Beside beside;
    BackgroundFile file = beside.open();
    REQUIRE(file.append(filled(1, -1)).ok());
    REQUIRE(file.append(*deferred).ok());
    auto written = file.finish();
    REQUIRE(written.ok());
    std::vector<float> back(count);
    REQUIRE(written->read_at(4, std::as_writable_bytes(std::span(back))).ok());
    CHECK(std::ranges::equal(back, whole.values<float>()));
    CHECK_FALSE(deferred->in_memory());
    for (const std::uint64_t offset : offsets) CHECK((offset % grain == 0 || grain > whole.byte_size()));
  }
}

TEST_CASE("BackgroundFile_ThatIsDropped_LeavesNothing") {
  Beside beside;
  {
    BackgroundFile file = beside.open();
    REQUIRE(file.append(filled(1000, 1)).ok());
    CHECK_FALSE(beside.empty());
  }
  CHECK(beside.empty());
}

TEST_CASE("BackgroundFile_WithoutRoom_FailsAtTheEndAtTheLatest" * doctest::test_suite("posix")) {
  const FileLimit limit(1 << 20);
  Beside beside;
  {
    BackgroundFile file = beside.open();
    for (int i = 0; i < 20; ++i)
      if (!file.append(filled(1 << 18, 1)).ok()) break;
    const auto written = file.finish();
    REQUIRE_FALSE(written.ok());
    CHECK(written.error().message.find("cannot write") != std::string::npos);
  }
  CHECK(beside.empty());
}

}  // namespace driftscope::test::background_file_test
