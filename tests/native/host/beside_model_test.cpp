// What describes a model: beside it, or above its folder onnx/.
#include "native/host/beside_model.hpp"

#include <doctest/doctest.h>

#include <fstream>

#include "native/os/temp_folder.hpp"

namespace driftscope {

TEST_CASE("BesideModel_FileBesideCountsMoreThanOneAboveOnnx") {
  auto made = TempFolder::make();
  REQUIRE(made.ok());
  const std::filesystem::path folder = made->path();
  for (const char* const name : {"onnx", "other"}) std::filesystem::create_directory(folder / name);
  const auto in = [&](const char* name) {
    return beside_model(folder / name / "model.onnx", "tokenizer.json");
  };
  CHECK(in("onnx") == folder / "onnx/tokenizer.json");  // neither is there
  std::ofstream(folder / "tokenizer.json") << "{}";
  CHECK(in("onnx") == folder / "tokenizer.json");
  CHECK(in("other") == folder / "other/tokenizer.json");
  std::ofstream(folder / "onnx/tokenizer.json") << "{}";
  CHECK(in("onnx") == folder / "onnx/tokenizer.json");
}

}  // namespace driftscope
