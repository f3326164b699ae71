// Arguments of jobs with the files in them. Clients: matrices, verify.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "native/host/model_file.hpp"
#include "native/jobs/job.hpp"

namespace driftscope {

/// As in ProgramJob.
struct JobPart {
  std::vector<std::string> arguments;
  std::map<std::string, std::filesystem::path> files = {};
  std::map<std::string, std::filesystem::path> folders = {};
  std::string hash = {};  ///< SHA-256 of all that they hold
};

[[nodiscard]] std::string text_sha256(std::string_view text);

/// The model with its external data and its description, beside each other as here; its path is the argument.
[[nodiscard]] JobPart model_part(const ModelFile& model);

void add_part(ProgramJob& job, const JobPart& part);

}  // namespace driftscope
