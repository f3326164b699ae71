// Sources of inputs, on files in memory.
#include "core/inputs/input_source.hpp"

#include <doctest/doctest.h>

#include <map>

#include "core/dataset/npy.hpp"
#include "core/trace/trace_file.hpp"
#include "unit/support/model_builder.hpp"
#include "unit/support/text.hpp"

namespace driftscope::test::input_source_test {
namespace {

using Files = std::map<std::string, std::string>;

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Graph pixels() {
  ModelBuilder model;
  model.input("x", DType::float32, {1, 1, 1, 2}).node("Relu", {"x"}, {"y"}).output("y");
  return built(model);
}

/// Two samples of 1×2 with labels 1 and 0, and the description of a model that takes them.
const Files shipped = {
    {"images", std::string("\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02\x00\xff\x80\x40", 20)},
    {"labels", std::string("\0\0\x08\x01\0\0\0\x02\x01\x00", 10)},
    {"set/input_0.pb", std::string("\x08\x02\x10\x01\x4a\x08\0\0\x80\x3f\0\0\0\x40", 14)},
};

struct World {
  Graph graph = pixels();
  Files files = shipped;
  InputSite site;

  World() {
    site.graph = &graph;
    site.files.read = [this](const std::string& path) -> Result<std::vector<std::byte>> {
      const auto file = files.find(path);
      if (file == files.end()) return io_error("cannot read " + path);
      const auto bytes = std::as_bytes(std::span(file->second));
      return std::vector<std::byte>(bytes.begin(), bytes.end());
    };
    site.files.list = [this](const std::string& folder) -> Result<std::vector<FolderEntry>> {
      std::vector<FolderEntry> entries;
      for (const auto& [name, ignored] : files)
        if (name.starts_with(folder + "/")) entries.push_back({name.substr(folder.size() + 1), false});
      return entries;
    };
    site.is_folder = [](const std::string& path) { return path == "set" || path == "empty"; };
    site.samples = [this]() -> Result<InputSite::Samples> {
      Preprocess how;
      how.input = "x";
      how.channels = how.height = 1;
      how.width = 2;
      how.mean = {0};
      how.std = {1};
      how.labels = {"zero", "one"};
      return InputSite::Samples{how, site.files, "m.preprocess.json"};
    };
  }
  World(const World&) = delete;

  [[nodiscard]] std::unique_ptr<InputSource> open(const std::string& spec) const {
    auto source = open_input_source(spec, site);
    REQUIRE_MESSAGE(source.ok(), source.error().message);
    return *std::move(source);
  }
  [[nodiscard]] std::string failure(const std::string& spec) const {
    const auto source = open_input_source(spec, site);
    REQUIRE_MESSAGE(!source.ok(), spec << " was accepted");
    return source.error().message;
  }
};

std::vector<float> floats(const InputItem& item) {
  const auto values = item.tensors.at(0).tensor.values<float>();
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("InputSource_Seeds_AreWithoutEndAndEachCanBeHadAlone") {
  const World world;
  const auto source = world.open("seed:42");
  CHECK_FALSE(source->size());
  CHECK(source->text() == "seed:42 (random)");
  const auto third = source->item(3);
  REQUIRE(third.ok());
  CHECK(third->text == "seed:45 (random)");
  CHECK(floats(*third) == floats(*world.open("seed:45")->item(0)));
  CHECK(floats(*third) == floats(*source->item(3)));
  CHECK(floats(*third) != floats(*source->item(2)));
  CHECK_FALSE(source->item(-1).ok());
  CHECK(holds(world.failure("seed:x"), "a whole number is needed, as in seed:42"));
  CHECK(holds(world.failure("seed:"), "a whole number is needed"));
}

TEST_CASE("InputSource_DataSet_HasItsSamplesAndLabels") {
  const World world;
  const auto all = world.open("idx:images,labels");
  CHECK(all->size() == 2);
  CHECK(all->text() == "images, 2 samples");
  CHECK(std::ranges::equal(all->labels(), std::vector<std::int64_t>{1, 0}));
  CHECK(all->class_names() == std::vector<std::string>{"zero", "one"});
  const auto second = all->item(1);
  REQUIRE(second.ok());
  CHECK(second->text == "idx:images,labels#1");
  CHECK(second->label_text == "zero");
  CHECK_FALSE(all->item(2).ok());
  const auto one = world.open(second->text);
  CHECK(one->size() == 1);
  CHECK(one->text() == second->text);
  CHECK(std::ranges::equal(one->labels(), std::vector<std::int64_t>{0}));
  CHECK(floats(*one->item(0)) == floats(*second));
  CHECK_FALSE(one->item(1).ok());
}

TEST_CASE("InputSource_Stacked_HasANewLeadingAxis") {
  const World world;
  const auto source = world.open("idx:images,labels");
  const auto stacked = stacked_items(*source, 0, 2);
  REQUIRE(stacked.ok());
  CHECK(stacked->at(0).name == "x");
  CHECK(stacked->at(0).tensor.shape() == Shape{2, 1, 1, 1, 2});
  std::vector<float> both = floats(*source->item(0));
  for (const float value : floats(*source->item(1))) both.push_back(value);
  CHECK(std::ranges::equal(stacked->at(0).tensor.values<float>(), both));
  CHECK_FALSE(stacked_items(*source, 0, 3).ok());
  CHECK_FALSE(stacked_items(*source, 1, INT64_MAX).ok());
  CHECK_FALSE(stacked_items(*source, 0, 0).ok());
  CHECK_FALSE(stacked_items(*source, -1, 1).ok());
  CHECK(stacked_items(*world.open("seed:1"), 5, 3)->at(0).tensor.shape() == Shape{3, 1, 1, 1, 2});
}

TEST_CASE("InputSource_TensorFiles_HoldOneItem") {
  World world;
  const Tensor tensor = *Tensor::make(DType::float32, {1, 1, 1, 2});
  world.files["x.npy"] = text_of(*write_npy(tensor));
  Trace trace;
  trace.tensors = {{"x", tensor}, {"y", tensor}};
  world.files["t.safetensors"] = text_of(*write_trace(trace));
  trace.tensors = {{"y", tensor}};
  world.files["other.safetensors"] = text_of(*write_trace(trace));
  CHECK(world.open("x.npy")->item(0)->tensors.at(0).name.empty());
  const auto both = world.open("t.safetensors")->item(0);
  CHECK(both->tensors.size() == 1);
  CHECK(both->tensors.at(0).name == "x");
  CHECK(holds(world.failure("other.safetensors"), "contains none of the model's inputs (x)"));
  CHECK(holds(world.failure("gone.npy"), "cannot read gone.npy"));
  const auto folder = world.open("set")->item(0);
  CHECK(folder->tensors.at(0).name == "x");  // the graph's name
  CHECK(floats(*folder) == std::vector<float>{1, 2});
  CHECK(holds(world.failure("empty"), "empty: the folder has no input_0.pb"));
}

TEST_CASE("InputSource_WhatIsUnknown_ShowsAllKinds") {
  const World world;
  CHECK(holds(world.failure("a/b.flac"),
              "--input a/b.flac: unknown kind of file '.flac'; expected .npy, .pb, .safetensors, .png, .jpg, "
              ".wav, .txt, "
              "a folder, idx:FILE#17, cifar10:FILE#17, imdb:DIR#17, images:DIR#17 or seed:42"));
  CHECK(holds(world.failure("a.b/c"), "unknown kind of file ''"));
  CHECK(holds(world.failure("review.txt"), "a text, but m.preprocess.json describes pictures"));
  CHECK(holds(world.failure("voice.WAV"), "a sound, but m.preprocess.json describes pictures"));
}

TEST_CASE("InputSource_Sound_IsReadAsItsDescriptionSays") {
  World world;
  world.files["voice.wav"] = std::string(
      "RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0\x02\0\x10\0data\x04\0\0\0"
      "\0\x40\0\xc0",
      48);
  world.site.samples = [&world]() -> Result<InputSite::Samples> {
    AudioPreprocess how;
    how.input = "x";
    how.rate = 16000;
    how.rank = 4;
    return InputSite::Samples{how, world.site.files, "m.preprocess.json"};
  };
  const auto item = world.open("voice.wav")->item(0);
  REQUIRE_MESSAGE(item.ok(), item.error().message);
  CHECK(item->tensors[0].name == "x");
  CHECK(item->tensors[0].tensor.shape() == Shape{1, 1, 1, 2});
  CHECK(floats(*item) == std::vector<float>{0.5f, -0.5f});
  CHECK(holds(world.failure("p.png"), "a picture, but m.preprocess.json describes sounds"));
}

TEST_CASE("InputSource_ChosenItemsOfAStack_AreItsRowsInThatOrder") {
  const auto stack = Tensor::from_values<float>({4, 2}, std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});
  REQUIRE(stack.ok());
  const auto chosen = chosen_items({{"x", *stack}}, std::vector<std::int64_t>{1, 3});
  REQUIRE(chosen.ok());
  CHECK(chosen->at(0).name == "x");
  CHECK(chosen->at(0).tensor.shape() == Shape{2, 2});
  const auto values = chosen->at(0).tensor.values<float>();
  CHECK(std::vector<float>(values.begin(), values.end()) == std::vector<float>{2, 3, 6, 7});
}

}  // namespace driftscope::test::input_source_test
