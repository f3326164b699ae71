// What the panel Why gives to copy where its host runs nothing.
#include "core/gui/layer_work.hpp"

#include <doctest/doctest.h>

namespace driftscope::test::layer_work_test {

using gui::command_lines;
using gui::LayerWork;

TEST_CASE("LayerWork_CommandLines_AreThoseOfTheCommands") {
  CHECK(command_lines({LayerWork::reduce, "conv1", "chrome/ort-webgpu"}, "net.onnx") ==
        "driftscope run net.onnx --target chrome/ort-webgpu --trace t.safetensors\n"
        "driftscope reduce net.onnx t.safetensors conv1 -o report");
  CHECK(command_lines({LayerWork::repro, "conv1", "pc/ort"}, "net.onnx")
            .ends_with("repro net.onnx t.safetensors conv1 -o report"));
  CHECK(command_lines({LayerWork::causal_test, "conv1", "pc/ort"}, "net.onnx").ends_with("conv1 --matters"));
}

TEST_CASE("LayerWork_ARunFromAFile_IsThatOfWhatMadeIt") {
  CHECK(command_lines({LayerWork::repro, "conv1", "file/t.safetensors", "chrome/ort"}, "net.onnx")
            .starts_with("driftscope run net.onnx --target chrome/ort --trace"));
}

TEST_CASE("LayerWork_CommandLines_QuoteWhatAShellWouldRead") {
  const std::string lines = command_lines({LayerWork::repro, "a b$(x)'c", "pc/ort:threads=2"}, "my net.onnx");
  CHECK(lines.find("'my net.onnx' --target pc/ort:threads=2") != std::string::npos);
  CHECK(lines.find(R"( 'a b$(x)'\''c' -o)") != std::string::npos);
  CHECK(command_lines({LayerWork::repro, "", "pc/ort"}, "n.onnx").find(" '' ") != std::string::npos);
}

}  // namespace driftscope::test::layer_work_test
