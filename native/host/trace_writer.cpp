#include "native/host/trace_writer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"
#include "core/trace/safetensors.hpp"
#include "core/trace/trace_file.hpp"
#include "native/os/atomic_file.hpp"

namespace driftscope {
namespace {

// Upper limit of the header: names twice or three times, shapes, times, memory samples.
std::size_t header_room(const Graph& graph, int repeat) {
  std::size_t room = 64 * 1024;
  for (const Value& value : graph.values) room += 2 * value.name.size() + 512;
  for (const Node& node : graph.nodes)
    room += 2 * (node.name.size() + node.op_type.size()) + 256 + 24 * static_cast<std::size_t>(repeat);
  return std::min((room + 7) / 8 * 8, max_safetensors_header);
}

}  // namespace

Result<TraceWriter> TraceWriter::create(const std::filesystem::path& path, const Graph& graph, int repeat) {
  DRIFTSCOPE_TRY(AtomicFile file, AtomicFile::create(path));
  const std::size_t room = header_room(graph, repeat);
  DRIFTSCOPE_CHECK(file.append(std::vector<std::byte>(room)));
  return TraceWriter(path, BackgroundFile(std::move(file)), room);
}

Status TraceWriter::add(const std::string& name, const Tensor& tensor) {
  const std::string who = "trace: tensor " + in_quotes(name);
  if (safetensors_dtype(tensor.dtype()).empty())
    return unsupported(fmt::format("{}: safetensors has no dtype for {}", who, dtype_name(tensor.dtype())));
  if (!valid_utf8(name) || name == "__metadata__" || !names_.insert(name).second)
    return bad_input(who + ": a trace file cannot hold this name, or holds it already");
  DRIFTSCOPE_CHECK(file_.append(tensor));
  const std::int64_t end = end_ + static_cast<std::int64_t>(tensor.byte_size());
  header_.entries.push_back({name, tensor.dtype(), tensor.shape(), end_, end, header_.entries.size()});
  end_ = end;
  return {};
}

Result<std::int64_t> TraceWriter::finish(const Trace& about) {
  for (const NamedTensor& later : later_tensors(about)) DRIFTSCOPE_CHECK(add(later.name, later.tensor));
  DRIFTSCOPE_TRY(AtomicFile file, file_.finish());
  DRIFTSCOPE_TRY(header_.metadata, trace_metadata(about));
  DRIFTSCOPE_TRY(const auto head, safetensors_head(header_, room_));
  const std::int64_t size = static_cast<std::int64_t>(head.size()) + end_;
  if (head.size() == room_) {
    DRIFTSCOPE_CHECK(file.write_at(0, head));
    DRIFTSCOPE_CHECK(file.commit());
    return size;
  }
  // The header is larger than expected (thousands of memory samples): write again, with enough space.
  DRIFTSCOPE_TRY(AtomicFile longer, AtomicFile::create(path_));
  DRIFTSCOPE_CHECK(longer.append(head));
  std::vector<std::byte> piece(1 << 20);
  for (std::int64_t at = 0; at < end_;) {
    const auto count = std::min<std::int64_t>(static_cast<std::int64_t>(piece.size()), end_ - at);
    const auto part = std::span(piece).first(static_cast<std::size_t>(count));
    DRIFTSCOPE_CHECK(file.read_at(static_cast<std::int64_t>(room_) + at, part));
    DRIFTSCOPE_CHECK(longer.append(part));
    at += count;
  }
  DRIFTSCOPE_CHECK(longer.commit());
  return size;
}

}  // namespace driftscope
