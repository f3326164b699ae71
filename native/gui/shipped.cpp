#include "native/gui/shipped.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "native/host/sample_files.hpp"
#include "native/platform/site.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

bool holds_models(const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(folder / "models", error);
}

}  // namespace

Result<fs::path> find_assets() {
  if (const char* named = std::getenv("DRIFTSCOPE_ASSETS"); named && *named) {
    if (holds_models(named)) return fs::path(named);
    return missing_error(std::string("DRIFTSCOPE_ASSETS names ") + named + ", which holds no folder models");
  }
  std::error_code error;
  const fs::path here = fs::canonical("/proc/self/exe", error).parent_path();
  const fs::path beside_build = (here / ".." / ".." / "assets").lexically_normal();
  const fs::path installed = (here / ".." / "share" / "driftscope" / "assets").lexically_normal();
  for (const fs::path& folder : {beside_build, installed})
    if (holds_models(folder)) return folder;
  if (const auto site = find_site(); site.ok() && holds_models(*site / "assets")) return *site / "assets";
  return missing_error("the shipped models were not found: looked in '" + beside_build.string() + "' and '" +
                       installed.string() + "'; name their folder in DRIFTSCOPE_ASSETS");
}

std::vector<fs::path> shipped_models(const fs::path& assets) {
  std::vector<fs::path> models;
  std::error_code error;
  for (auto entry = fs::directory_iterator(assets / "models", error);
       !error && entry != fs::directory_iterator(); entry.increment(error))
    if (entry->path().extension() == ".onnx") models.push_back(entry->path());
  std::sort(models.begin(), models.end(), [](const fs::path& a, const fs::path& b) {
    const bool a_first = a.stem() == "lenet5";
    const bool b_first = b.stem() == "lenet5";
    return a_first != b_first ? a_first : a.filename() < b.filename();
  });
  return models;
}

SampleSet samples_for(const ModelFile& model, const fs::path& assets) {
  const std::string data = (assets / "data").string();
  const std::array<std::string, 4> specs = {
      "idx:" + data + "/digits-test-images.idx3-ubyte," + data + "/digits-test-labels.idx1-ubyte",
      "cifar10:" + data + "/generated-cifar10-test.bin", "cifar10:" + data + "/generated-shapes-test.bin",
      "imdb:" + data + "/generated-reviews"};
  for (const std::string& text : specs) {
    const auto source = open_input_source(text, input_site(model));
    if (source.ok() && (*source)->item(0).ok()) return {text, (*source)->size().value_or(0)};
  }
  return {};
}

}  // namespace driftscope
