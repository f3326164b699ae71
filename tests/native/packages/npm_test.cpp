// Packages of npm: archives, their integrity, the cache, and what is said where one does not come.
#include <doctest/doctest.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "native/os/files.hpp"
#include "native/os/temp_folder.hpp"
#include "native/packages/integrity.hpp"
#include "native/packages/npm.hpp"
#include "native/packages/tarball.hpp"
#include "native/platform/cache_folder.hpp"

namespace driftscope::test::npm_test {
namespace {

namespace fs = std::filesystem;

std::vector<std::byte> bytes_of(const std::string& text) {
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

struct TarFile {
  std::string name;
  std::string content;
  char type = '0';
};

std::string header_of(const TarFile& file) {
  std::string head(512, '\0');
  head.replace(0, std::min<std::size_t>(file.name.size(), 100), file.name.substr(0, 100));
  std::snprintf(head.data() + 124, 12, "%011zo", file.content.size());
  head[156] = file.type;
  head.replace(257, 5, "ustar");
  head.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char c : head) sum += static_cast<unsigned char>(c);
  std::snprintf(head.data() + 148, 8, "%06o", sum);
  return head;
}

std::vector<std::byte> tar_gz(const std::vector<TarFile>& files) {
  std::string tar;
  for (const TarFile& file : files) {
    tar += header_of(file) + file.content;
    tar.append((512 - file.content.size() % 512) % 512, '\0');
  }
  tar.append(1024, '\0');
  z_stream stream = {};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::vector<std::byte> packed(tar.size() + 1024);
  stream.next_in = reinterpret_cast<Bytef*>(tar.data());
  stream.avail_in = static_cast<uInt>(tar.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

struct Unpacked {
  Status status;
  std::vector<std::pair<std::string, std::string>> files;
};

Unpacked unpack(std::span<const std::byte> packed, const TarballLimits& limits = {}) {
  Unpacked result;
  TarballReader reader;
  reader.wants = [](const std::string& name) { return !name.ends_with(".map"); };
  reader.file = [&](const std::string& name, std::span<const std::byte> content) -> Status {
    result.files.emplace_back(name,
                              std::string(reinterpret_cast<const char*>(content.data()), content.size()));
    return {};
  };
  result.status = read_tarball(packed, reader, limits);
  return result;
}

const peer::NeededPackage some = {{"some-runtime", "dist/", ""}, "1.2.3"};

std::vector<std::byte> some_archive() {
  return tar_gz({{"package/package.json", "{}"},
                 {"package/dist/ort.mjs", "export {};"},
                 {"package/dist/ort.mjs.map", "{}"},
                 {"package/lib/other.js", "x"}});
}

/// The cache and npm's registry of this test.
struct OwnCache {
  OwnCache() : folder(*TempFolder::make()) {
    if (const char* before = std::getenv("XDG_CACHE_HOME")) cache_before = before;
    setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);
    setenv("npm_config_registry", "http://127.0.0.1:9/", 1);
  }
  ~OwnCache() {
    unsetenv("npm_config_registry");
    if (cache_before.empty())
      unsetenv("XDG_CACHE_HOME");
    else
      setenv("XDG_CACHE_HOME", cache_before.c_str(), 1);
  }
  OwnCache(const OwnCache&) = delete;
  OwnCache& operator=(const OwnCache&) = delete;
  TempFolder folder;
  std::string cache_before;
};

}  // namespace

TEST_CASE("Integrity_OfKnownBytes_IsTheStandards") {
  // FIPS 180-4, "abc".
  CHECK(sha512_integrity(bytes_of("abc")) ==
        "sha512-3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05ohkpkqJ0/BqDa6PCOj/uu9RU1EI2Q86A4qmslPpUyknw==");
}

TEST_CASE("Tarball_FilesWithLongNames_AreReadInOrder") {
  const std::string deep = "package/" + std::string(150, 'a') + "/b.mjs";
  const std::string record = "path=" + deep + "\n";
  const std::string pax = std::to_string(record.size() + 4) + " " + record;
  const Unpacked got = unpack(tar_gz({{"package/a.mjs", "one"},
                                      {"pax", pax, 'x'},
                                      {"package/short", std::string(1000, 'x')},
                                      {"package/a.mjs.map", "unwanted"},
                                      {"package/link", "", '2'},
                                      {"package/empty", ""}}));
  REQUIRE_MESSAGE(got.status.ok(), got.status.error().message);
  REQUIRE(got.files.size() == 3);
  CHECK(got.files[0] == std::pair<std::string, std::string>{"package/a.mjs", "one"});
  CHECK(got.files[1] == std::pair<std::string, std::string>{deep, std::string(1000, 'x')});
  CHECK(got.files[2].first == "package/empty");
}

TEST_CASE("Tarball_DamagedCutOrHostile_IsAnError") {
  auto packed = some_archive();
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, packed.size() / 2, packed.size() - 9})
    CHECK(!unpack(std::span(packed).first(size)).status.ok());
  CHECK(!unpack(bytes_of("no archive at all, but some text")).status.ok());
  for (const char* name : {"package/../../x", "/etc/x", "package//x", "package/a\nb"}) {
    CAPTURE(name);
    CHECK(!unpack(tar_gz({{name, "x"}})).status.ok());
  }
  CHECK(unpack(packed, {.bytes = 8}).status.error().kind == ErrorKind::limit);
  CHECK(unpack(packed, {.file_bytes = 1}).status.error().kind == ErrorKind::limit);
  CHECK(unpack(packed, {.files = 2}).status.error().kind == ErrorKind::limit);
}

TEST_CASE("Package_OfTheStatedIntegrity_IsUnpackedAndCheckedLater") {
  const TempFolder folder = *TempFolder::make();
  const auto archive = some_archive();
  const Status status = unpack_package(some, archive, sha512_integrity(archive), folder.path());
  REQUIRE_MESSAGE(status.ok(), status.error().message);
  CHECK(fs::exists(folder.path() / "dist/ort.mjs"));
  CHECK(!fs::exists(folder.path() / "dist/ort.mjs.map"));
  CHECK(!fs::exists(folder.path() / "lib"));
  CHECK(check_package(folder.path()).ok());
  REQUIRE(write_file(folder.path() / "dist/ort.mjs", std::string_view("export 1;")).ok());
  const Status damaged = check_package(folder.path());
  REQUIRE(!damaged.ok());
  CHECK(damaged.error().message.find("dist/ort.mjs is not what was fetched; remove this folder") !=
        std::string::npos);
}

TEST_CASE("Package_OfAnotherIntegrity_IsNotUsed") {
  const TempFolder folder = *TempFolder::make();
  const Status status =
      unpack_package(some, some_archive(), sha512_integrity(bytes_of("something else")), folder.path());
  REQUIRE(!status.ok());
  CHECK(status.error().kind == ErrorKind::bad_input);
  CHECK(status.error().message.find("some-runtime 1.2.3: the archive that came has the integrity sha512-") ==
        0);
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("Package_WithoutWhatIsWanted_IsOfAnotherForm") {
  const TempFolder folder = *TempFolder::make();
  const auto archive = tar_gz({{"package/index.js", "x"}});
  const Status status = unpack_package(some, archive, sha512_integrity(archive), folder.path());
  REQUIRE(!status.ok());
  CHECK(status.error().kind == ErrorKind::unsupported);
}

TEST_CASE("Package_WithoutNetwork_SaysSo_AndLeavesNothing") {
  const OwnCache own;
  const auto quiet = [](std::string_view) {};
  const auto provided = provide_package(some, quiet);
  REQUIRE(!provided.ok());
  CHECK(provided.error().kind == ErrorKind::missing);
  CHECK(provided.error().message.find("some-runtime 1.2.3 cannot be fetched: npm") == 0);
  CHECK(fs::is_empty(package_cache()));
  CHECK(!package_versions("some-runtime").ok());

  // What was fetched before needs no network.
  const fs::path folder = package_folder("some-runtime", "1.2.3");
  fs::create_directories(folder);
  const auto archive = some_archive();
  REQUIRE(unpack_package(some, archive, sha512_integrity(archive), folder).ok());
  const auto cached = provide_package(some, quiet);
  REQUIRE_MESSAGE(cached.ok(), cached.error().message);
  CHECK(*cached == folder);
}

}  // namespace driftscope::test::npm_test
