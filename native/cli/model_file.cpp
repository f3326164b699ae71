#include "native/cli/model_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/graph/build.hpp"
#include "core/model/onnx_reader.hpp"
#include "core/ops/infer_shapes.hpp"
#include "native/cli/files.hpp"

namespace driftscope {
namespace {

/// Reads each external file once, keeps it as an attachment and hands out the parts asked for.
ExternalData attaching(const std::filesystem::path& folder, std::vector<JobAttachment>& attachments) {
  return [folder, &attachments](const std::string& location, std::int64_t offset,
                                std::int64_t length) -> Result<std::vector<std::byte>> {
    auto found = std::find_if(attachments.begin(), attachments.end(),
                              [&](const JobAttachment& a) { return a.location == location; });
    if (found == attachments.end()) {
      DRIFTSCOPE_TRY(Bytes bytes, read_file(folder / location));
      found = attachments.insert(attachments.end(),
                                 {location, std::make_shared<const Bytes>(std::move(bytes))});
    }
    const auto size = static_cast<std::int64_t>(found->bytes->size());
    if (offset < 0 || offset > size || (length >= 0 && length > size - offset))
      return bad_input(fmt::format(
          "external data file {}: {} bytes at offset {} are needed, the file has {}", location,
          length, offset, size));
    const auto begin = found->bytes->begin() + offset;
    return std::vector<std::byte>(begin, length < 0 ? found->bytes->end() : begin + length);
  };
}

Result<GraphFile> read_graph(std::span<const std::byte> bytes, const std::filesystem::path& path,
                              std::vector<JobAttachment>& attachments, ThreadPool* threads) {
  const auto name_file = [&](Error error) { return in_context(std::move(error), path.string()); };
  auto model = read_onnx(bytes, attaching(path.parent_path(), attachments), threads);
  if (!model.ok()) return name_file(std::move(model).error());
  auto graph = build_graph(*model);
  if (!graph.ok()) return name_file(std::move(graph).error());
  auto inferred = infer_shapes(*std::move(graph));
  if (!inferred.ok()) return name_file(std::move(inferred).error());
  return GraphFile{model->sha256, *std::move(inferred)};
}

}  // namespace

Result<ModelFile> load_model_file(const std::filesystem::path& path) {
  ModelFile file;
  file.path = path;
  DRIFTSCOPE_TRY(Bytes bytes, read_file(path));
  file.bytes = std::make_shared<const Bytes>(std::move(bytes));
  DRIFTSCOPE_TRY(GraphFile read, read_graph(*file.bytes, path, file.attachments, nullptr));
  file.sha256 = std::move(read.sha256);
  file.graph = std::move(read.graph);
  return file;
}

Result<GraphFile> load_graph_file(const std::filesystem::path& path, ThreadPool& threads) {
  DRIFTSCOPE_TRY(const MappedFile file, MappedFile::open(path));
  std::vector<JobAttachment> attachments;
  return read_graph(file.bytes(), path, attachments, &threads);
}

}  // namespace driftscope
