// A run of this program as a job: its arguments, the files that it reads, the file that it writes. Clients:
// pools of jobs, and commands that have many.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"

namespace driftscope {

struct ProgramJob {
  std::int64_t id = 0;  ///< the client's own
  /// SHA-256 of all that the result depends on, in hexadecimal.
  std::string key;
  /// Of the program, beginning with a command. In each, @{NAME} stands for the place of a file or folder, and
  /// @{result} for the file that it writes.
  std::vector<std::string> arguments;
  /// By name, such as "model/model.onnx"; names in one folder lie in one folder where it runs.
  std::map<std::string, std::filesystem::path> files;
  /// Folders by name, with all that is in them.
  std::map<std::string, std::filesystem::path> folders = {};
  std::chrono::seconds limit{600};  ///< after which it is ended
};

struct ProgramJobResult {
  std::int64_t id = 0;
  std::optional<int> exit_code = {};  ///< nothing: it was ended, or never ran
  std::string result = {};            ///< what it wrote; empty: nothing
  std::string errors = {};            ///< its messages, the end of them
  std::string worker = {};            ///< who ran it; empty: this machine
  double seconds = 0.0;
  /// It could not be run to its end: too long, a program that crashed, a file that is gone.
  std::optional<Error> error = {};
};

inline constexpr const char* job_result_name = "result";

/// The arguments with `place` of each @{NAME}. The error, an internal one: a name that is not there.
[[nodiscard]] Result<std::vector<std::string>> placed_arguments(
    const ProgramJob& job, const std::map<std::string, std::string>& places);

/// "driftscope: …" lines of what a program of ours printed, without that word; else its last lines.
[[nodiscard]] std::string messages_in(const std::string& printed);

}  // namespace driftscope
