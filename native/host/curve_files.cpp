#include "native/host/curve_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "core/curves/curve_format.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t looked_at_curves = 2000;  // of a JSON: its format is among the first members
constexpr std::size_t most_listed = 20'000;     // of a folder that may be one of pictures

bool is_event_path(const fs::directory_entry& entry) {
  std::error_code no_matter;
  return entry.is_regular_file(no_matter) && is_event_file(entry.path().filename().string());
}

bool has_event_files(const fs::path& folder) {
  std::error_code error;
  std::size_t listed = 0;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end && listed < most_listed;
       at.increment(error), ++listed)
    if (is_event_path(*at)) return true;
  return false;
}

/// A history of Keras has no format's name; our other documents do.
bool is_curves_json(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string start(looked_at_curves, ' ');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  if (start.find("\"driftscope-training-") != std::string::npos) return true;
  const std::size_t begin = start.find_first_not_of(" \t\r\n");
  return begin != std::string::npos && start[begin] == '{' &&
         start.find("\"driftscope-") == std::string::npos;
}

Result<std::vector<std::string>> curve_files(const std::string& given) {
  std::error_code error;
  if (!fs::is_directory(given, error)) return std::vector{given};
  if (const fs::path training = fs::path(given) / "training.json"; fs::is_regular_file(training, error))
    return std::vector{training.string()};
  error.clear();
  std::vector<std::string> files;
  for (fs::recursive_directory_iterator at(given, error), end; !error && at != end; at.increment(error))
    if (is_event_path(*at)) files.push_back(at->path().string());
  if (error) return io_error(fmt::format("{}: cannot be listed: {}", given, error.message()));
  if (files.empty())
    return bad_input(
        fmt::format("{}: no curves in this folder; expected training.json, or event files (their "
                    "names have \"tfevents\" in them); name other files one by one",
                    given));
  std::ranges::sort(files);
  return files;
}

std::string absolute_name(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  return (error ? fs::path(path) : whole).lexically_normal().generic_string();
}

Result<CurveFile> read_curve_file(const std::string& path, const std::string& given) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (!error && size > largest_curve_file)
    return limit_error(fmt::format("{}: {} bytes, more than {}: curves are read as a whole; split the file",
                                   path, size, largest_curve_file));
  DRIFTSCOPE_TRY(const std::vector<std::byte> bytes, read_file(path));
  return read_curves({path, curve_run_name(absolute_name(path), absolute_name(given)), bytes});
}

}  // namespace

bool is_curves(const fs::path& path) {
  std::error_code no_matter;
  if (fs::is_directory(path, no_matter))
    return fs::is_regular_file(path / "training.json", no_matter) || has_event_files(path);
  if (is_event_file(path.filename().string())) return true;
  const std::string extension = path.extension().string();
  if (extension == ".csv" || extension == ".CSV") return true;
  return (extension == ".json" || extension == ".JSON") && fs::is_regular_file(path, no_matter) &&
         is_curves_json(path);
}

Result<std::vector<NamedCurveFile>> read_curve_files(const std::vector<std::string>& given) {
  std::vector<NamedCurveFile> files;
  for (const std::string& one : given) {
    DRIFTSCOPE_TRY(const std::vector<std::string> paths, curve_files(one));
    for (const std::string& path : paths) {
      DRIFTSCOPE_TRY(CurveFile file, read_curve_file(path, one));
      files.push_back({path, std::move(file)});
    }
  }
  return files;
}

}  // namespace driftscope
