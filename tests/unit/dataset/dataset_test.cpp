#include "core/dataset/dataset.hpp"

#include <doctest/doctest.h>

#include <map>

#include "core/base/float_bits.hpp"
#include "unit/support/files.hpp"
#include "unit/support/text.hpp"

namespace driftscope::test::dataset_test {
namespace {

std::string description(const std::string& more = "") {
  return R"({"format":"driftscope-preprocess-1","input":"image","layout":"NCHW","channels":1,)"
         R"("height":1,"width":2,"channel_order":"gray","scale":0.00392156862745098,)"
         R"("mean":[0.5],"std":[0.25],"labels":["zero","one"])" +
         more + "}";
}

/// The description with one piece of it replaced.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = description();
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string failure(const std::string& json) {
  const auto how = parse_preprocess(json);
  REQUIRE_MESSAGE(!how.ok(), "the description was accepted");
  return how.error().message;
}

Preprocess parsed(const std::string& json) {
  auto how = parse_preprocess(json);
  REQUIRE_MESSAGE(how.ok(), how.error().message);
  return *std::move(how);
}

DatasetSpec spec_of(const std::string& text) {
  auto spec = parse_dataset_spec(text);
  REQUIRE_MESSAGE(spec.ok(), spec.error().message);
  return *std::move(spec);
}

/// The description of a model in assets.
Preprocess shipped(const std::string& model) {
  const auto bytes = repository_file("assets/models/" + model + ".preprocess.json");
  return parsed({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

/// Two samples of 1×2 with labels 1 and 0.
const std::map<std::string, std::string> files = {
    {"images", std::string("\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02\x00\xff\x80\x40", 20)},
    {"labels", std::string("\0\0\x08\x01\0\0\0\x02\x01\x00", 10)},
    {"one-label", std::string("\0\0\x08\x01\0\0\0\x01\x01", 9)},
    {"label-7", std::string("\0\0\x08\x01\0\0\0\x02\x01\x07", 10)},
    {"none", std::string("\0\0\x08\x03\0\0\0\0\0\0\0\x01\0\0\0\x02", 16)},
    {"cut", std::string("\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02\x00", 17)},
    {"wide", std::string("\0\0\x08\x03\0\0\0\x01\0\0\0\x01\0\0\0\x03"
                         "abc",
                         19)},
};

Result<std::vector<std::byte>> read_file(const std::string& path) {
  const auto file = files.find(path);
  if (file == files.end()) return io_error("cannot read " + path);
  const auto bytes = std::as_bytes(std::span(file->second));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

Result<Dataset> opened(const std::string& spec) {
  return Dataset::open(spec_of(spec), parsed(description()), read_file);
}

std::string open_failure(const std::string& spec) {
  const auto set = opened(spec);
  REQUIRE_MESSAGE(!set.ok(), "the data set was accepted");
  return set.error().message;
}

}  // namespace

TEST_CASE("ParsePreprocess_ReadsEveryField") {
  const Preprocess how = parsed(description());
  CHECK(how.input == "image");
  CHECK(how.height == 1);
  CHECK(how.width == 2);
  CHECK(how.order == ChannelOrder::gray);
  CHECK(how.scale == 1.0f / 255.0f);  // the double nearest 1/255, rounded to float32
  CHECK(how.mean == std::vector<float>{0.5f});
  CHECK(how.labels == std::vector<std::string>{"zero", "one"});
  CHECK(how.text() == "1x1x2 gray");
  CHECK(parsed(changed(R"(,"labels":["zero","one"])", "")).labels.empty());
}

TEST_CASE("ParsePreprocess_ShippedDescriptions_AreRead") {
  for (const std::string name : {"lenet1", "lenet5", "resnet20"}) {
    const Preprocess how = shipped(name);
    CHECK(how.labels.size() == 10);
    CHECK(how.text() == (name == "resnet20" ? "3x32x32 RGB" : "1x28x28 gray"));
  }
}

TEST_CASE("ParsePreprocess_WrongFields_AreNamed") {
  CHECK(holds(failure(""), "not a JSON object"));
  CHECK(holds(failure("[1]"), "not a JSON object"));
  CHECK(holds(failure(changed("preprocess-1", "preprocess-9")), "preprocess-9"));
  CHECK(holds(failure(changed("NCHW", "CHWN")), "layout is 'CHWN'"));
  CHECK(holds(failure(changed("\"channels\":1", "\"channels\":3")), "channels is 3"));
  CHECK(holds(failure(changed("gray", "CMYK")), "channel_order is 'CMYK'"));
  CHECK(holds(failure(changed("\"height\":1", "\"height\":0")), "height"));
  CHECK(holds(failure(changed("\"height\":1", "\"height\":-1")), "height"));
  CHECK(holds(failure(changed("\"width\":2", "\"width\":99999999999")), "width"));
  CHECK(holds(failure(changed("\"width\":2", "\"width\":2.5")), "width"));
  CHECK(holds(failure(changed("0.00392156862745098", "\"1/255\"")), "scale"));
  CHECK(holds(failure(changed("0.00392156862745098", "1e39")), "scale"));
  CHECK(holds(failure(changed("[0.5]", "[0.5,0.5]")), "mean"));
  CHECK(holds(failure(changed("[0.5]", "0.5")), "mean"));
  CHECK(holds(failure(changed("[0.25]", "[0]")), "std contains a zero"));
  CHECK(holds(failure(changed("[0.25]", "[1e-60]")), "std contains a zero"));  // as float32
  CHECK(holds(failure(changed("\"zero\"", "0")), "labels"));
}

TEST_CASE("Preprocess_ThreeOperationsEachRoundedToFloat32") {
  const std::string json = changed("[0.5]", "[0.1307]");
  const Preprocess how = parsed(json);
  std::vector<std::byte> pixels(2);
  for (int p = 0; p < 256; ++p) {
    pixels[0] = pixels[1] = static_cast<std::byte>(p);
    const auto tensor = preprocess(how, pixels);
    REQUIRE(tensor.ok());
    CHECK(tensor->shape() == Shape{1, 1, 1, 2});
    // Each operation in double and then rounded: for + − × ÷ that is the float32 operation.
    const auto scaled = static_cast<float>(double(p) * double(how.scale));
    const auto centred = static_cast<float>(double(scaled) - double(how.mean[0]));
    const auto wanted = static_cast<float>(double(centred) / double(how.std[0]));
    CHECK(same_result(tensor->values<float>()[0], wanted));
  }
}

TEST_CASE("Preprocess_RgbUsesTheMeanOfEachPlane") {
  const Preprocess how =
      parsed(R"({"format":"driftscope-preprocess-1","input":"i","layout":"NCHW","channels":3,"height":1,)"
             R"("width":2,"channel_order":"RGB","scale":1,"mean":[1,2,3],"std":[1,2,4]})");
  const std::vector<std::byte> pixels(6, std::byte{11});
  const auto tensor = preprocess(how, pixels);
  REQUIRE(tensor.ok());
  const auto values = tensor->values<float>();
  CHECK(std::vector<float>(values.begin(), values.end()) == std::vector<float>{10, 10, 4.5f, 4.5f, 2, 2});
}

TEST_CASE("ParseDatasetSpec_ReadsAllForms") {
  const DatasetSpec idx = spec_of("idx:a,b/c.idx,d");
  CHECK(idx.images == "a,b/c.idx");
  CHECK(idx.labels == "d");
  CHECK_FALSE(idx.sample);
  const DatasetSpec one = spec_of("idx:a#1#17");
  CHECK(one.images == "a#1");
  CHECK(one.labels.empty());
  CHECK(one.sample == 17);
  const DatasetSpec labelled = spec_of("idx:a,b#0");
  CHECK(labelled.labels == "b");
  CHECK(labelled.sample == 0);
  const DatasetSpec cifar10 = spec_of("cifar10:test,batch.bin");
  CHECK(cifar10.format == "cifar10");
  CHECK(cifar10.images == "test,batch.bin");
  CHECK(spec_of("cifar10:x#3").sample == 3);
  CHECK(spec_of("cifar10:x#y").images == "x#y");
}

TEST_CASE("ParseDatasetSpec_WrongForms_ShowTheRightOnes") {
  for (const std::string text : {"", "mnist:a", "idx:", "idx:a", "idx:a,", "idx:,b", "cifar10:", "cifar10:#3",
                                 "idx:a#-1", "idx:a#99999999999999999999"}) {
    INFO(text);
    const auto spec = parse_dataset_spec(text);
    REQUIRE_FALSE(spec.ok());
    CHECK(holds(spec.error().message, "expected idx:IMAGES,LABELS, cifar10:FILE, imdb:DIR"));
  }
  CHECK(is_dataset_spec("idx:a"));
  CHECK(is_dataset_spec("cifar10:a"));
  CHECK_FALSE(is_dataset_spec("file.npy"));
}

TEST_CASE("Dataset_SamplesAndLabels") {
  const auto set = opened("idx:images,labels");
  REQUIRE_MESSAGE(set.ok(), set.error().message);
  CHECK(set->size() == 2);
  CHECK(set->labels() == std::vector<std::int64_t>{1, 0});
  CHECK(set->label_text(0) == "one");
  CHECK(set->label_text(2).empty());
  const auto sample = set->sample(0);
  REQUIRE(sample.ok());
  CHECK(sample->name == "image");
  CHECK(sample->tensor.shape() == Shape{1, 1, 1, 2});
  CHECK(sample->tensor.values<float>()[0] == -2.0f);
  CHECK(sample->tensor.values<float>()[1] == 2.0f);
}

TEST_CASE("Dataset_SamplesThatDoNotExist_AreErrors") {
  const auto set = opened("idx:images,labels");
  REQUIRE(set.ok());
  for (const std::int64_t i : {std::int64_t{-1}, std::int64_t{2}, INT64_MAX}) {
    const auto sample = set->sample(i);
    REQUIRE_FALSE(sample.ok());
    CHECK(holds(sample.error().message, "the data set has 2"));
  }
}

TEST_CASE("Dataset_FilesThatDoNotFit_AreNamed") {
  CHECK(holds(open_failure("idx:gone,labels"), "cannot read gone"));
  CHECK(holds(open_failure("idx:cut,labels"), "'cut': IDX file"));
  CHECK(holds(open_failure("idx:images,one-label"), "2 samples, 'one-label' holds 1 labels"));
  CHECK(holds(open_failure("idx:images,label-7"), "sample 1 has label 7, but the model has 2"));
  CHECK(holds(open_failure("idx:images,images"), "labels of shape 2x1x2"));
  CHECK(holds(open_failure("idx:labels#0"), "expected samples x height x width"));
  CHECK(holds(open_failure("idx:wide#0"), "samples are 1x1x3"));
  CHECK(holds(open_failure("idx:wide#0"), "expects 1x1x2 gray"));
  CHECK(holds(open_failure("idx:none#0"), "no samples"));
}

TEST_CASE("Dataset_OneSampleWithoutLabels_HasNoLabel") {
  const auto set = opened("idx:images#1");
  REQUIRE(set.ok());
  CHECK(set->labels().empty());
  CHECK(set->label_text(1).empty());
  CHECK(set->sample(1).ok());
}

TEST_CASE("Dataset_ShippedSets_OpenWithTheirModels") {
  const auto from_repository = [](const std::string& path) -> Result<std::vector<std::byte>> {
    return repository_file("assets/data/" + path);
  };
  const auto digits =
      Dataset::open(spec_of("idx:digits-test-images.idx3-ubyte,digits-test-labels.idx1-ubyte"),
                    shipped("lenet5"), from_repository);
  REQUIRE_MESSAGE(digits.ok(), digits.error().message);
  CHECK(digits->size() == 450);
  CHECK(digits->sample(449).value().tensor.shape() == Shape{1, 1, 28, 28});
  const auto pictures =
      Dataset::open(spec_of("cifar10:generated-cifar10-test.bin"), shipped("resnet20"), from_repository);
  REQUIRE_MESSAGE(pictures.ok(), pictures.error().message);
  CHECK(pictures->size() == 500);
  CHECK(pictures->sample(499).value().tensor.shape() == Shape{1, 3, 32, 32});
  CHECK_FALSE(pictures->label_text(499).empty());
}

}  // namespace driftscope::test::dataset_test
