#include "native/host/trace_writer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "core/trace/trace_file.hpp"
#include "native/os/files.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope::test::trace_writer_test {
namespace {

Tensor floats(const std::vector<float>& values) {
  const auto tensor =
      Tensor::from_values<float>({static_cast<std::int64_t>(values.size())}, std::span(values));
  REQUIRE(tensor.ok());
  return *tensor;
}

Trace written(const std::filesystem::path& path, const Trace& about, int repeat) {
  auto writer = TraceWriter::create(path, Graph{}, repeat);
  REQUIRE(writer.ok());
  REQUIRE(writer->add("a", floats({1, 2, 3})).ok());
  REQUIRE(writer->add("b", floats({4})).ok());
  const auto size = writer->finish(about);
  REQUIRE(size.ok());
  CHECK(static_cast<std::uintmax_t>(*size) == std::filesystem::file_size(path));
  const auto file = MappedFile::open(path);
  REQUIRE(file.ok());
  auto trace = read_trace(file->bytes());
  REQUIRE_MESSAGE(trace.ok(), trace.error().message);
  return *std::move(trace);
}

std::size_t files_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

}  // namespace

TEST_CASE("TraceWriter_TensorsOneByOne_ReadBackAsATrace") {
  auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  Trace about;
  about.target = "pc/strict";
  about.nodes.push_back({"n", "Relu", {"a"}, {17}, false});
  const Trace trace = written(folder->path() / "t.safetensors", about, 1);
  CHECK(trace.target == "pc/strict");
  CHECK(trace.nodes.at(0).time_ns.at(0) == 17);
  REQUIRE(trace.tensors.size() == 2);
  CHECK(trace.tensors[0].tensor.values<float>()[2] == 3);
  CHECK(trace.tensors[1].name == "b");
  CHECK(files_in(folder->path()) == 1);
}

TEST_CASE("TraceWriter_HeaderBeyondItsRoom_IsWrittenAllTheSame") {
  auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  Trace about;
  for (int i = 0; i < 5000; ++i) about.memory.push_back({0.5 * i, 1 << 20, "process_pss"});
  const Trace trace = written(folder->path() / "t.safetensors", about, 1);
  CHECK(trace.memory.size() == 5000);
  CHECK(trace.tensors.at(0).tensor.values<float>()[0] == 1);
  CHECK(files_in(folder->path()) == 1);
}

TEST_CASE("TraceWriter_NotFinished_LeavesNothingBehind") {
  auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  {
    auto writer = TraceWriter::create(folder->path() / "t.safetensors", Graph{}, 1);
    REQUIRE(writer.ok());
    REQUIRE(writer->add("a", floats({1})).ok());
    CHECK_FALSE(writer->add("a", floats({1})).ok());
    CHECK_FALSE(writer->add("__metadata__", floats({1})).ok());
  }
  CHECK(files_in(folder->path()) == 0);
}

}  // namespace driftscope::test::trace_writer_test
