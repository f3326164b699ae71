// Data sets of one file per sample: image folders and IMDb's layout, on folders in memory.
#include <doctest/doctest.h>

#include <map>

#include "core/dataset/dataset.hpp"
#include "unit/support/files.hpp"
#include "unit/support/text.hpp"

namespace driftscope::test::folders_test {
namespace {

using Files = std::map<std::string, std::string>;

/// Folders are the part of a name before a slash; a name that ends in one is an empty folder.
FileAccess access(const Files& files) {
  const auto read = [files](const std::string& path) -> Result<std::vector<std::byte>> {
    const auto file = files.find(path);
    if (file == files.end()) return bad_input("cannot read " + path);
    const auto bytes = std::as_bytes(std::span(file->second));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  const auto list = [files](const std::string& path) -> Result<std::vector<FolderEntry>> {
    std::map<std::string, bool> entries;
    bool found = false;
    for (const auto& [name, unused] : files) {
      if (!name.starts_with(path + "/")) continue;
      found = true;
      const std::string rest = name.substr(path.size() + 1);
      const std::size_t slash = rest.find('/');
      if (!rest.empty()) entries[rest.substr(0, slash)] = slash != std::string::npos;
    }
    if (!found) return bad_input("cannot read the folder " + path);
    std::vector<FolderEntry> listed;
    for (const auto& [name, folder] : entries) listed.insert(listed.begin(), {name, folder});
    return listed;
  };
  return {read, list};
}

std::string stored(const std::string& name) {
  const auto bytes = repository_file("tests/data/pictures/" + name);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Preprocess colour(std::vector<std::string> labels = {}) {
  return {.input = "x",
          .channels = 3,
          .height = 8,
          .width = 9,
          .order = ChannelOrder::rgb,
          .mean = {0, 0, 0},
          .std = {1, 1, 1},
          .labels = std::move(labels),
          .resize = ResizeRule::exact};
}

TextPreprocess reviews(std::vector<std::string> labels = {}) {
  return {.input = "tokens",
          .length = 3,
          .vocabulary = "vocabulary.txt",
          .unknown = 1,
          .remove = {},
          .labels = std::move(labels)};
}

Result<Dataset> opened(const std::string& spec, SampleDescription how, const Files& files) {
  return Dataset::open(parse_dataset_spec(spec).value(), std::move(how), access(files));
}

std::string failure(const std::string& spec, SampleDescription how, const Files& files) {
  const auto set = opened(spec, std::move(how), files);
  REQUIRE_MESSAGE(!set.ok(), "the data set was accepted");
  return set.error().message;
}

const Files texts = {{"vocabulary.txt", "<pad>\n<unk>\ngood\nbad\n"},
                     {"set/pos/10_9.txt", "Good!"},
                     {"set/pos/1_8.txt", "good good"},
                     {"set/neg/0_2.txt", "bad film"},
                     {"set/urls_pos.txt", ""},
                     {"set/neg/.hidden", ""}};

}  // namespace

TEST_CASE("PictureFolder_OrderedByClassThenName_FoldersAreClasses") {
  const auto set = opened("images:set", colour(),
                          {{"set/dog/b.png", stored("colour.png")},
                           {"set/dog/a.JPG", stored("baseline.jpg")},
                           {"set/cat/z.jpeg", stored("progressive.jpg")},
                           {"set/cat/.cache", "x"},
                           {"set/readme.txt", "x"}});
  REQUIRE_MESSAGE(set.ok(), set.error().message);
  CHECK(set->size() == 3);
  CHECK(set->labels() == std::vector<std::int64_t>{0, 1, 1});
  CHECK(set->label_text(0) == "cat");
  CHECK(set->label_text(2) == "dog");
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto sample = set->sample(i);
    REQUIRE_MESSAGE(sample.ok(), sample.error().message);
    CHECK(sample->tensor.shape() == Shape{1, 3, 8, 9});
  }
}

TEST_CASE("PictureFolder_ModelsLabelsDecide") {
  const Files files = {{"set/dog/b.png", stored("colour.png")}, {"set/ant/a.png", stored("colour.png")}};
  const auto set = opened("images:set", colour({"dog", "cat", "ant"}), files);
  REQUIRE_MESSAGE(set.ok(), set.error().message);
  CHECK(set->labels() == std::vector<std::int64_t>{0, 2});
  CHECK(
      holds(failure("images:set", colour({"dog", "cat"}), files), "folder 'ant' is not one of the model's"));
}

TEST_CASE("PictureFolder_EmptyOrStrange_IsAnError") {
  CHECK(holds(failure("images:set", colour(), {}), "cannot read the folder set"));
  CHECK(holds(failure("images:set", colour(), {{"set/", ""}}), "it contains no folders"));
  CHECK(holds(failure("images:set", colour(), {{"set/a.png", ""}}), "it contains no folders"));
  CHECK(holds(failure("images:set", colour(), {{"set/dog/", ""}}), "'set/dog': the folder is empty"));
  CHECK(
      holds(failure("images:set", colour(), {{"set/dog/a.gif", ""}}), "'a.gif' is not a .png or .jpg file"));
  CHECK(holds(failure("images:set", colour(), {{"set/dog/more/a.png", ""}}), "'more' is not a .png"));
  CHECK(holds(failure("images:set", reviews(), texts), "a data set of pictures, but"));
}

TEST_CASE("PictureFolder_PictureThatDoesNotFit_IsNamed") {
  const auto sample_failure = [](Preprocess how, const std::string& bytes) {
    const auto set = opened("images:set", std::move(how), {{"set/dog/a.png", bytes}});
    REQUIRE_MESSAGE(set.ok(), set.error().message);
    const auto sample = set->sample(0);
    REQUIRE_MESSAGE(!sample.ok(), "the picture was accepted");
    CHECK(holds(sample.error().message, "'set/dog/a.png': "));
    return sample.error().message;
  };
  Preprocess exact_size = colour();
  exact_size.resize = ResizeRule::none;
  CHECK(holds(sample_failure(exact_size, stored("colour.png")), "the picture is 29x37 RGB, the model's"));
  CHECK(holds(sample_failure(colour(), stored("gray.png")), "the picture is 29x37 gray"));
  CHECK(holds(sample_failure(colour(), stored("gray16.png")), "16 bits"));
  CHECK(holds(sample_failure(colour(), stored("cmyk.jpg")), "CMYK"));
  CHECK(holds(sample_failure(colour(), stored("colour.png").substr(0, 900)), "truncated"));
  Preprocess gray{.input = "x",
                  .channels = 1,
                  .height = 8,
                  .width = 9,
                  .mean = {0},
                  .std = {1},
                  .labels = {},
                  .resize = ResizeRule::exact};
  CHECK(holds(sample_failure(gray, stored("colour.png")), "expects gray"));
  Preprocess cropped = colour();
  cropped.resize = ResizeRule::none;
  cropped.crop = Crop::center;
  cropped.height = 30;
  CHECK(holds(sample_failure(cropped, stored("colour.png")), "smaller than 30x9"));
}

TEST_CASE("Imdb_OrderedByClassThenName") {
  const auto set = opened("imdb:set", reviews(), texts);
  REQUIRE_MESSAGE(set.ok(), set.error().message);
  CHECK(set->size() == 3);
  CHECK(set->labels() == std::vector<std::int64_t>{0, 1, 1});
  CHECK(set->label_text(0) == "neg");
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto sample = set->sample(i);
    REQUIRE(sample.ok());
    CHECK(sample->name == "tokens");
    CHECK(sample->tensor.shape() == Shape{1, 3});
    const auto values = sample->tensor.values<std::int64_t>();
    all.insert(all.end(), values.begin(), values.end());
  }
  // "10_9.txt" comes before "1_8.txt": names are compared as bytes.
  CHECK(all == std::vector<std::int64_t>{3, 1, 0, 2, 0, 0, 2, 2, 0});
  CHECK(opened("imdb:set", reviews({"pos", "neg"}), texts)->labels() == std::vector<std::int64_t>{0, 0, 1});
}

TEST_CASE("Imdb_MissingPieces_AreNamed") {
  CHECK(
      holds(failure("imdb:set", reviews({"good", "bad"}), texts), "folder 'neg' is not one of the model's"));
  Files files = texts;
  files.erase("vocabulary.txt");
  CHECK(holds(failure("imdb:set", reviews(), files), "cannot read vocabulary.txt"));
  files["vocabulary.txt"] = "a\na\n";
  CHECK(holds(failure("imdb:set", reviews(), files), "'vocabulary.txt': vocabulary: 'a' occurs twice"));
  files = {{"vocabulary.txt", "a\n"}, {"set/neg/1.txt", ""}};
  CHECK(holds(failure("imdb:set", reviews(), files), "no folder pos"));
  files["set/pos/"] = "";
  CHECK(holds(failure("imdb:set", reviews(), files), "'set/pos': the folder is empty"));
  files["set/pos/a.html"] = "";
  CHECK(holds(failure("imdb:set", reviews(), files), "'a.html' is not a .txt file"));
  CHECK(holds(failure("imdb:set", colour(), texts), "a data set of texts, but"));
}

TEST_CASE("Imdb_WordOutsideTheVocabulary_NamesTheFile") {
  TextPreprocess strict = reviews();
  strict.unknown.reset();
  const auto set = opened("imdb:set", strict, texts);
  REQUIRE(set.ok());
  CHECK(set->sample(1).ok());
  const auto sample = set->sample(0);
  REQUIRE(!sample.ok());
  CHECK(holds(sample.error().message, "'set/neg/0_2.txt': word 2 of the text, 'film'"));
}

TEST_CASE("ParseDatasetSpec_Folders") {
  const auto spec = parse_dataset_spec("imdb:some/folder,with comma#17").value();
  CHECK(spec.format == "imdb");
  CHECK(spec.images == "some/folder,with comma");
  CHECK(spec.sample == 17);
  CHECK(parse_dataset_spec("images:x").value().format == "images");
  CHECK(is_dataset_spec("images:x"));
  CHECK_FALSE(parse_dataset_spec("images:").ok());
  CHECK_FALSE(parse_dataset_spec("imdb:#3").ok());
}

TEST_CASE("ParseSampleDescription_KindDecides") {
  const auto text = parse_sample_description(R"({"format":"driftscope-preprocess-1","kind":"text",)"
                                             R"("input":"t","length":4,"vocabulary":"v","pad":0})");
  REQUIRE_MESSAGE(text.ok(), text.error().message);
  CHECK(std::holds_alternative<TextPreprocess>(*text));
  CHECK_FALSE(parse_sample_description(R"({"kind":"text"})").ok());
  CHECK_FALSE(parse_sample_description("").ok());
}

}  // namespace driftscope::test::folders_test
