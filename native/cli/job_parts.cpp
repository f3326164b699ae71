#include "native/cli/job_parts.hpp"

#include <fmt/format.h>

#include "core/base/sha256.hpp"
#include "native/cli/result_store.hpp"
#include "native/host/sample_files.hpp"
#include "native/os/files.hpp"

namespace driftscope {

namespace fs = std::filesystem;

std::string text_sha256(std::string_view text) { return sha256_hex(std::as_bytes(std::span(text))); }

JobPart model_part(const ModelFile& model) {
  // The folder keeps the name onnx: descriptions may lie above it.
  const fs::path here = fs::absolute(model.path).parent_path();
  const fs::path there = fs::path("model") / (here.filename() == "onnx" ? "onnx" : "files");
  JobPart part;
  const std::string name = (there / model.path.filename()).generic_string();
  part.arguments = {"@{" + name + "}"};
  part.files[name] = model.path;
  std::string hash = hashes_of(model);
  for (const JobAttachment& file : model.attachments)
    part.files[(there / file.location).lexically_normal().generic_string()] = here / file.location;
  for (const fs::path& file : description_files(model)) {
    const fs::path relative = fs::absolute(file).lexically_relative(here);
    part.files[(there / relative).lexically_normal().generic_string()] = file;
    if (const auto bytes = read_file(file); bytes.ok())
      hash += fmt::format("{} {}\n", relative.generic_string(), sha256_hex(*bytes));
  }
  part.hash = text_sha256(hash);
  return part;
}

void add_part(ProgramJob& job, const JobPart& part) {
  job.arguments.insert(job.arguments.end(), part.arguments.begin(), part.arguments.end());
  job.files.insert(part.files.begin(), part.files.end());
  job.folders.insert(part.folders.begin(), part.folders.end());
}

}  // namespace driftscope
