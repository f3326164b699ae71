// Specs of --input, --input-shape and --dim on a model that leaves sizes open.
#include "native/host/inputs.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/dataset/npy.hpp"
#include "core/inputs/found_inputs.hpp"
#include "core/trace/run_fact.hpp"
#include "generated/documents/chosen_inputs.hpp"
#include "native/compare/comparison_host.hpp"
#include "native/os/files.hpp"
#include "native/os/temp_folder.hpp"
#include "unit/support/model_builder.hpp"

namespace driftscope::test::inputs_test {
namespace {

/// Ids and a mask of one size, and a scalar.
struct World {
  TempFolder folder = *TempFolder::make();
  ModelFile model;

  World() {
    ModelBuilder made;
    made.input("ids", DType::int64, {"batch", "time"})
        .input("mask", DType::int64, {"batch", "time"})
        .input("gain", DType::float32, {})
        .node("Mul", {"ids", "mask"}, {"y"})
        .node("Relu", {"gain"}, {"z"})
        .output("y")
        .output("z");
    const auto path = folder.path() / "m.onnx";
    REQUIRE(write_file(path, made.bytes()).ok());
    auto loaded = load_model_file(path);
    REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
    model = *std::move(loaded);
  }

  std::string file(const std::string& name, const Tensor& tensor) const {
    const auto path = folder.path() / name;
    const auto bytes = write_npy(tensor);
    REQUIRE(bytes.ok());
    REQUIRE(write_file(path, *bytes).ok());
    return path.string();
  }
  GivenInputs read(const std::vector<std::string>& specs) const {
    auto given = read_inputs(specs, model);
    REQUIRE_MESSAGE(given.ok(), given.error().message);
    return *std::move(given);
  }
  std::string failure(const std::vector<std::string>& specs) const {
    const auto given = read_inputs(specs, model);
    REQUIRE_MESSAGE(!given.ok(), "accepted");
    return given.error().message;
  }
};

const Tensor& tensor_of(const GivenInputs& given, const std::string& name) {
  const auto found = std::ranges::find(given.tensors, name, &NamedTensor::name);
  REQUIRE(found != given.tensors.end());
  return found->tensor;
}

}  // namespace

TEST_CASE("ReadInputs_Nothing_IsFoundAndSaid") {
  const World world;
  const GivenInputs given = world.read({});
  CHECK(given.text == "seed:42 (random), batch=1, time=16 (found), mask ones");
  CHECK(given.found_sizes == std::vector<std::string>{"dim:batch=1", "dim:time=16"});
  REQUIRE(given.chosen);
  CHECK(given.chosen->text == given.text);
}

TEST_CASE("ReadInputs_Sizes_AreTakenAndSaid") {
  const World world;
  const GivenInputs given = world.read({"dim:time=5", "seed:7"});
  CHECK(tensor_of(given, "ids").shape() == Shape{1, 5});
  CHECK(tensor_of(given, "mask").shape() == Shape{1, 5});
  CHECK(given.text == "seed:7 (random), batch=1 (found), mask ones, time=5");
  CHECK(given.found_sizes == std::vector<std::string>{"dim:batch=1"});
  CHECK(tensor_of(world.read({"shape:mask=2x3"}), "ids").shape() == Shape{2, 3});
  // What was found is found again where it is given.
  const GivenInputs found = world.read({});
  CHECK(std::ranges::equal(tensor_of(world.read(found.found_sizes), "ids").bytes(),
                           tensor_of(found, "ids").bytes()));
}

TEST_CASE("ReadInputs_ASeedBesideFiles_MakesWhatIsMissingInTheirSizes") {
  const World world;
  const std::string ids = world.file("ids.npy", tensor<std::int64_t>({2, 3}, {1, 2, 3, 4, 5, 6}));
  const GivenInputs given = world.read({"seed:42", "ids=" + ids});
  CHECK(tensor_of(given, "ids").values<std::int64_t>()[5] == 6);
  CHECK(tensor_of(given, "mask").shape() == Shape{2, 3});
  CHECK(given.found_sizes.empty());
  const GivenInputs one = world.read({"ids=seed:1", "mask=" + ids, "seed:2"});
  CHECK(tensor_of(one, "ids").shape() == Shape{2, 3});
  CHECK(one.tensors.size() == 3);
}

TEST_CASE("ReadInputs_Missing_AreListed") {
  const World world;
  const std::string ids = world.file("ids.npy", tensor<std::int64_t>({1, 2}, {1, 2}));
  CHECK(world.failure({ids}).find(
            "say it, as in --input ids=FILE. Not given yet:\n  ids (int64 batchxtime)") != std::string::npos);
  CHECK(world.failure({"ids=" + ids}).find("2 of 3 inputs missing:\n  mask (int64 batchxtime)") !=
        std::string::npos);
}

TEST_CASE("ReadInputs_OneElement_IsTheScalar") {
  const World world;
  const std::string gain = world.file("gain.npy", tensor<float>({1}, {2}));
  CHECK(tensor_of(world.read({"gain=" + gain, "seed:42"}), "gain").shape() == Shape{});
}

TEST_CASE("ReadInputs_WhatWasChosen_IsInTheTraceOfARun") {
  const World world;
  ComparisonInputs inputs;
  inputs.inputs = world.read({});
  TargetRunner runner({});
  NativeComparisonHost host(world.model, inputs, runner);
  auto run = host.start(*parse_target("pc/strict"), RunPurpose::layers, {});
  REQUIRE(run.ok());
  REQUIRE((*run)->poll([](std::string_view, std::int64_t, std::int64_t) {}).ok());
  const auto chosen = run_fact<ChosenInputs>((*run)->take(), "inputs");
  REQUIRE(chosen);
  CHECK(chosen->text == inputs.inputs.text);
}

}  // namespace driftscope::test::inputs_test
