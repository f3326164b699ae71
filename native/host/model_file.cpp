#include "native/host/model_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/base/sha256.hpp"
#include "core/convert/read_model.hpp"
#include "core/eval/infer_shapes.hpp"
#include "core/graph/build.hpp"
#include "core/model/onnx_parts.hpp"
#include "core/model/onnx_reader.hpp"
#include "core/model/onnx_writer.hpp"
#include "core/model/strict_notes.hpp"

namespace driftscope {
namespace {

using ShareBeside = std::function<Result<SharedBytes>(const std::string& location)>;

/// Opens each external file once, keeps it as an attachment and finds the requested parts.
ExternalData attaching(ShareBeside open, std::vector<JobAttachment>& attachments) {
  return [open = std::move(open), &attachments](const std::string& location, std::int64_t offset,
                                                std::int64_t length) -> Result<ByteSource> {
    auto found = std::find_if(attachments.begin(), attachments.end(),
                              [&](const JobAttachment& a) { return a.location == location; });
    if (found == attachments.end()) {
      DRIFTSCOPE_TRY(SharedBytes bytes, open(location));
      found = attachments.insert(attachments.end(), {location, std::move(bytes)});
    }
    const auto size = static_cast<std::int64_t>(found->bytes.size());
    if (offset < 0 || offset > size || (length >= 0 && length > size - offset))
      return bad_input(fmt::format("external data file {}: {} bytes at offset {} are needed, the file has {}",
                                   location, length, offset, size));
    return found->bytes.source().part(static_cast<std::uint64_t>(offset),
                                      static_cast<std::uint64_t>(length < 0 ? size - offset : length));
  };
}

ShareBeside beside(const std::filesystem::path& folder) {
  return [folder](const std::string& location) { return share_inside(folder, location); };
}

/// A model in another format as the bytes of an ONNX one; nothing when it is in none of those.
struct Converted {
  std::string kind;
  SharedBytes bytes;
  std::size_t weight_bytes = 0;
  std::set<std::string, std::less<>> values = {};
};
Result<std::optional<Converted>> converted(std::span<const std::byte> bytes,
                                           const std::filesystem::path& folder) {
  const auto read = [&folder](const std::string& location) { return read_inside(folder, location); };
  DRIFTSCOPE_TRY(const auto foreign, convert::read_foreign_model(bytes, read));
  if (!foreign) return std::optional<Converted>();
  DRIFTSCOPE_TRY(Bytes written, write_onnx(foreign->model));
  return std::optional(
      Converted{foreign->kind, SharedBytes(std::move(written)), foreign->weight_bytes, foreign->values});
}

Result<Graph> graph_of(const Model& model) {
  DRIFTSCOPE_TRY(Graph graph, build_graph(model));
  return infer_shapes(std::move(graph));
}

/// Graph, hash and attachments of a model whose bytes are there.
Status read_into(ModelFile& file, ShareBeside open, Weights weights) {
  DRIFTSCOPE_TRY(Model model,
                 read_onnx(file.bytes.source(), attaching(std::move(open), file.attachments), weights));
  DRIFTSCOPE_TRY(file.graph, graph_of(model));
  file.sha256 = std::move(model.sha256);
  for (const JobAttachment& attachment : file.attachments)
    file.file_bytes += static_cast<std::int64_t>(attachment.bytes.size());
  return {};
}

}  // namespace

Result<ModelFile> load_model_file(const std::filesystem::path& path, Weights weights) {
  const auto name_file = [&](Error error) { return in_context(std::move(error), path.string()); };
  ModelFile file;
  file.path = path;
  file.name = path.filename().string();
  std::error_code unknown;  // a pipe has no size
  if (const auto size = std::filesystem::file_size(path, unknown); !unknown && size > max_protobuf_bytes)
    return name_file(protobuf_too_large("model"));
  DRIFTSCOPE_TRY(file.bytes, share_file(path));
  file.file_bytes = static_cast<std::int64_t>(file.bytes.size());
  auto foreign = converted(file.bytes.bytes(), path.parent_path());
  if (!foreign.ok()) return name_file(std::move(foreign).error());
  if (*foreign) {
    file.kind = (*foreign)->kind;
    file.bytes = (*foreign)->bytes;
    file.values = (*foreign)->values;
    file.file_bytes += static_cast<std::int64_t>((*foreign)->weight_bytes);
  }
  auto read = read_into(file, beside(path.parent_path()), weights);
  if (!read.ok()) return name_file(std::move(read).error());
  return file;
}

Result<ModelFile> load_model_bytes(const std::filesystem::path& path, std::string name, SharedBytes bytes,
                                   std::vector<JobAttachment> attachments, Weights weights) {
  ModelFile file;
  file.path = path;
  file.name = std::move(name);
  file.bytes = std::move(bytes);
  file.attachments = std::move(attachments);
  file.file_bytes = static_cast<std::int64_t>(file.bytes.size());
  const auto absent = [](const std::string& location) -> Result<SharedBytes> {
    return bad_input(fmt::format("the file of external data {} is not beside it", location));
  };
  auto read = read_into(file, absent, weights);
  if (!read.ok()) return in_context(std::move(read).error(), path.string());
  return file;
}

ModelHash::ModelHash(ByteSource bytes, bool beside)
    : hash_(std::async(beside ? std::launch::async : std::launch::deferred,
                       [bytes = std::move(bytes)] { return sha256_hex(bytes); })) {
  if (!beside) hash_.wait();
}

ModelHash::ModelHash(std::string hash) {
  std::promise<std::string> known;
  known.set_value(std::move(hash));
  hash_ = known.get_future().share();
}

bool ModelHash::known() const { return hash_.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }

Result<GraphFile> load_graph_file(const std::filesystem::path& path, int threads) {
  const auto name_file = [&](Error error) { return in_context(std::move(error), path.string()); };
  DRIFTSCOPE_TRY(MappedFile file, MappedFile::open(path));
  auto foreign = converted(file.bytes(), path.parent_path());
  if (!foreign.ok()) return name_file(std::move(foreign).error());
  const ByteSource source = *foreign ? (*foreign)->bytes.source() : file.source();
  ModelHash sha256(source, threads > 1);
  std::vector<JobAttachment> attachments;
  const auto model =
      read_onnx(source, attaching(beside(path.parent_path()), attachments), Weights::deferred, Hash::none);
  if (!model.ok()) return name_file(model.error());
  auto graph = graph_of(*model);
  if (!graph.ok()) return name_file(std::move(graph).error());
  return GraphFile{std::move(file), std::move(sha256), *std::move(graph)};
}

namespace {

/// As attaching, but what cannot be read becomes zeros, and every file is listed.
ExternalData forgiving(ExternalData find, std::vector<ModelExamination::External>& files) {
  return [find = std::move(find), &files](const std::string& location, std::int64_t offset,
                                          std::int64_t length) -> Result<ByteSource> {
    auto file = std::ranges::find(files, location, &ModelExamination::External::location);
    if (file == files.end()) file = files.insert(files.end(), {location, ""});
    auto found = find(location, offset, length);
    if (found.ok()) return found;
    if (file->problem.empty()) file->problem = found.error().message;
    ByteSource zeros;
    zeros.size = static_cast<std::uint64_t>(std::max<std::int64_t>(length, 0));
    zeros.read = [](std::uint64_t /*offset*/, std::span<std::byte> target) {
      std::ranges::fill(target, std::byte{0});
    };
    return zeros;
  };
}

/// What can be known of a model whose weights may be missing.
void examine_graph(const ByteSource& bytes, const std::filesystem::path& folder,
                   ModelExamination& examination) {
  std::vector<JobAttachment> attachments;
  const auto model = read_onnx(bytes, forgiving(attaching(beside(folder), attachments), examination.external),
                               Weights::deferred, Hash::none);
  if (!model.ok()) return;
  for (const JobAttachment& attachment : attachments)
    examination.file_bytes += static_cast<std::int64_t>(attachment.bytes.size());
  auto graph = graph_of(*model);
  if (graph.ok()) examination.graph = *std::move(graph);
}

}  // namespace

Result<ModelExamination> examine_model_file(const std::filesystem::path& path) {
  const auto name_file = [&](Error error) { return in_context(std::move(error), path.string()); };
  DRIFTSCOPE_TRY(MappedFile file, MappedFile::open(path));
  ModelExamination examination;
  const auto foreign = converted(file.bytes(), path.parent_path());
  if (!foreign.ok()) {
    examination.error = name_file(foreign.error());
    return examination;
  }
  examination.file_bytes = static_cast<std::int64_t>(file.bytes().size());
  if (*foreign) {
    examination.kind = (*foreign)->kind;
    examination.file_bytes += static_cast<std::int64_t>((*foreign)->weight_bytes);
  }
  const ByteSource source = *foreign ? (*foreign)->bytes.source() : file.source();
  examine_graph(source, path.parent_path(), examination);
  std::vector<JobAttachment> attachments;
  const auto model = read_onnx(source, attaching(beside(path.parent_path()), attachments), Weights::deferred);
  if (!model.ok()) {
    examination.error = name_file(model.error());
    return examination;
  }
  examination.sha256 = model->sha256;
  examination.notes = strict_notes(*model);
  const auto graph = graph_of(*model);
  if (graph.ok())
    examination.notes.insert(examination.notes.end(), graph->notes.begin(), graph->notes.end());
  else
    examination.error = name_file(graph.error());
  return examination;
}

}  // namespace driftscope
