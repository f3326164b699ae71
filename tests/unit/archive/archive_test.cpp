// Zip files: what is written is read again, wherever a file is cut or changed there is an error.
#include <doctest/doctest.h>
#include <zlib.h>

#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/archive/archive_reader.hpp"
#include "core/archive/archive_writer.hpp"
#include "core/archive/member_name.hpp"
#include "unit/support/text.hpp"

using namespace driftscope;

namespace {

using Bytes = std::vector<std::byte>;

class Memory final : public ArchiveOutput {
 public:
  Status append(std::span<const std::byte> more) override {
    if (bytes.size() + more.size() > limit) return io_error("the disk is full");
    bytes.insert(bytes.end(), more.begin(), more.end());
    return {};
  }
  Status write_at(std::uint64_t offset, std::span<const std::byte> part) override {
    REQUIRE(offset + part.size() <= bytes.size());
    std::memcpy(bytes.data() + offset, part.data(), part.size());
    return {};
  }
  Bytes bytes;
  std::size_t limit = std::size_t{1} << 30;
};

Bytes random_bytes(std::mt19937& random, std::size_t size) {
  Bytes bytes(size);
  // Long runs, so that deflate has something to do.
  for (std::size_t i = 0; i < size;) {
    const auto value = static_cast<std::byte>(random());
    for (std::size_t run = random() % 50 + 1; run > 0 && i < size; --run) bytes[i++] = value;
  }
  return bytes;
}

struct Made {
  std::map<std::string, Bytes> members;
  Bytes file;
};

Made make_archive(std::mt19937& random) {
  Made made;
  Memory memory;
  ArchiveWriter writer(memory);
  for (std::size_t i = random() % 6; i > 0; --i) {
    const std::string name = "folder/" + std::to_string(made.members.size()) + ".bin";
    const Bytes bytes = random_bytes(random, random() % 3 == 0 ? 0 : random() % 100'000);
    REQUIRE(writer.begin(name, random() % 2 == 0 ? Packing::stored : Packing::deflated).ok());
    const std::size_t half = bytes.size() / 2;
    REQUIRE(writer.write(std::span(bytes).first(half)).ok());
    REQUIRE(writer.write(std::span(bytes).subspan(half)).ok());
    made.members.emplace(name, bytes);
  }
  REQUIRE(writer.finish().ok());
  made.file = std::move(memory.bytes);
  return made;
}

Bytes text(std::string_view from) {
  const auto bytes = std::as_bytes(std::span(from));
  return {bytes.begin(), bytes.end()};
}

/// A file of one stored member.
Bytes one_member(const std::string& name, std::string_view contents) {
  Memory memory;
  ArchiveWriter writer(memory);
  REQUIRE(writer.add(name, Packing::stored, text(contents)).ok());
  REQUIRE(writer.finish().ok());
  return memory.bytes;
}

/// Replaces every occurrence of a text of the same length.
Bytes replaced(Bytes file, std::string_view from, std::string_view to) {
  REQUIRE(from.size() == to.size());
  std::string all(reinterpret_cast<const char*>(file.data()), file.size());
  for (std::size_t at = all.find(from); at != std::string::npos; at = all.find(from, at + to.size()))
    all.replace(at, from.size(), to);
  return text(all);
}

}  // namespace

TEST_CASE("Archive_RandomMembers_AreReadAsTheyWereWritten") {
  const unsigned seed = std::random_device()();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 30; ++round) {
    const Made made = make_archive(random);
    const auto reader = ArchiveReader::open(made.file);
    REQUIRE(reader.ok());
    CHECK(reader->members().size() == made.members.size());
    for (const auto& [name, bytes] : made.members) {
      CHECK(*reader->read(name, 100'000) == bytes);
      if (reader->members().at(name).deflated) {
        CHECK(!reader->stored(name).ok());
      } else {
        const auto stored = reader->stored(name);
        REQUIRE(stored.ok());
        CHECK(stored->size() == bytes.size());
        if (!bytes.empty()) CHECK(stored->data() >= made.file.data());
      }
      if (!bytes.empty()) CHECK(reader->read(name, bytes.size() - 1).error().kind == ErrorKind::limit);
    }
  }
}

TEST_CASE("Archive_CutAnywhere_IsAnError") {
  std::mt19937 random(7);
  Made made = make_archive(random);
  while (made.members.size() < 2) made = make_archive(random);
  const auto step = std::max<std::size_t>(1, made.file.size() / 3000);
  for (std::size_t size = 0; size < made.file.size(); size += step)
    CHECK(!ArchiveReader::open(std::span(made.file).first(size)).ok());
  for (std::size_t missing = 1; missing < 30; ++missing)
    CHECK(!ArchiveReader::open(std::span(made.file).first(made.file.size() - missing)).ok());
  const auto cut = ArchiveReader::open(std::span(made.file).first(made.file.size() - 30));
  CHECK(cut.error().message.find("cut") != std::string::npos);
}

TEST_CASE("Archive_ChangedByte_IsNoticedWhereItIsRead") {
  const Bytes file = one_member("a.txt", "some text that is long enough");
  for (std::size_t at = 0; at < file.size(); ++at) {
    Bytes changed = file;
    changed[at] ^= std::byte{0x10};
    const auto reader = ArchiveReader::open(changed);
    if (!reader.ok() || !reader->has("a.txt")) continue;
    const auto stored = reader->stored("a.txt");
    if (!stored.ok()) continue;
    // A field that nobody reads: the date, say.
    CHECK(text("some text that is long enough") == Bytes(stored->begin(), stored->end()));
  }
}

TEST_CASE("Archive_NamesThatLeadElsewhere_AreRefused") {
  for (const char* name : {"", "/etc/x", "../x", "a/../b", "a//b", "a/", "a\\b", ".", "a\nb"}) {
    CAPTURE(name);
    CHECK(!is_member_name(name));
    Memory memory;
    ArchiveWriter writer(memory);
    CHECK(!writer.begin(name, Packing::stored).ok());
  }
  CHECK(is_member_name("model/a b.onnx"));
  CHECK(is_member_name("..a/b.."));
  const Bytes file = replaced(one_member("aa/bb.txt", "x"), "aa/bb.txt", "../bb.txt");
  CHECK(ArchiveReader::open(file).error().message.find("plain relative path") != std::string::npos);
}

TEST_CASE("Archive_NameTwice_IsRefused") {
  Memory memory;
  ArchiveWriter writer(memory);
  REQUIRE(writer.add("one.txt", Packing::stored, text("1")).ok());
  REQUIRE(writer.add("two.txt", Packing::stored, text("2")).ok());
  REQUIRE(writer.finish().ok());
  const Bytes twice = replaced(memory.bytes, "two.txt", "one.txt");
  CHECK(ArchiveReader::open(twice).error().message.find("twice") != std::string::npos);
}

TEST_CASE("Archive_FullDisk_IsItsError") {
  Memory memory;
  memory.limit = 100'000;
  ArchiveWriter writer(memory);
  const Bytes large(300'000, std::byte{1});
  Status status = writer.add("large.bin", Packing::stored, large);
  if (status.ok()) status = writer.finish();
  REQUIRE(!status.ok());
  CHECK(status.error().message == "the disk is full");
}

TEST_CASE("Archive_MemberThatClaimsAnotherSize_IsRefusedBeforeMemoryIsTaken") {
  Memory memory;
  ArchiveWriter writer(memory);
  const Bytes zeros(1000, std::byte{0});
  REQUIRE(writer.add("z", Packing::deflated, zeros).ok());
  REQUIRE(writer.finish().ok());
  // Its size, 1000: the list of members counts, which is at the end.
  const std::string_view size("\xe8\x03\0\0", 4);
  for (const std::string_view claimed :
       {std::string_view("\xff\xff\xff\x7f", 4), std::string_view("\xe9\x03\0\0", 4)}) {
    Bytes changed = memory.bytes;
    const auto whole = std::string_view(reinterpret_cast<const char*>(changed.data()), changed.size());
    const std::size_t last = whole.rfind(size);
    REQUIRE(last != std::string_view::npos);
    std::memcpy(changed.data() + last, claimed.data(), claimed.size());
    const auto reader = ArchiveReader::open(changed);
    const auto member = reader.ok() ? reader->read("z", UINT64_MAX) : Result<Bytes>(reader.error());
    REQUIRE(!member.ok());
    CHECK(test::holds(member.error().message, "member 'z' is damaged"));
  }
}
