// Writes a trace file during the run: each tensor as it is computed, on a separate thread, the header
// at the end, into space reserved for it. Clients: the run command, the bench's worker.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "core/graph/graph.hpp"
#include "core/trace/record.hpp"
#include "core/trace/safetensors_header.hpp"
#include "native/os/background_file.hpp"

namespace driftscope {

class TraceWriter {
 public:
  /// `repeat`: how many times per node the header will hold.
  [[nodiscard]] static Result<TraceWriter> create(const std::filesystem::path& path, const Graph& graph,
                                                  int repeat);

  /// The tensor is kept until it has been written. The error may be that of an earlier tensor.
  [[nodiscard]] Status add(const std::string& name, const Tensor& tensor);

  /// The values so far.
  [[nodiscard]] const std::vector<SafetensorsEntry>& values() const { return header_.entries; }

  /// Writes the values of later runs and the header (about.tensors is ignored) and gives the file its name;
  /// returns its size.
  [[nodiscard]] Result<std::int64_t> finish(const Trace& about);

 private:
  TraceWriter(std::filesystem::path path, BackgroundFile file, std::size_t room)
      : path_(std::move(path)), file_(std::move(file)), room_(room) {}

  std::filesystem::path path_;
  BackgroundFile file_;
  std::size_t room_;  // for the header
  SafetensorsHeader header_;
  std::set<std::string> names_;
  std::int64_t end_ = 0;  // of the data
};

}  // namespace driftscope
