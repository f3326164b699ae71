#include <doctest/doctest.h>

#include <limits>

#include "core/folder/folder_page.hpp"
#include "core/folder/folder_text.hpp"
#include "core/folder/smallest.hpp"

namespace driftscope::test::smallest_test {
namespace {

using documents::Folder;
using documents::FolderCell;
using documents::FolderPart;
using documents::FolderVariant;

FolderCell cell(const std::string& target, double drift, std::optional<bool> same = std::nullopt) {
  FolderCell made{.target = target, .verdict = "rounding", .same_prediction = same, .drift = drift};
  if (same) made.answers = 1, made.different = *same ? 0 : 1;
  return made;
}

FolderVariant variant(const std::string& name, std::int64_t bytes, std::vector<FolderCell> cells) {
  return {.name = name, .dtype = name, .file = name + ".onnx", .bytes = bytes, .cells = std::move(cells)};
}

FolderPart concluded(std::vector<FolderVariant> variants, double tolerance = 0.01) {
  Folder folder{.folder = "f",
                .reference_target = "pc/strict",
                .targets = {"pc/strict", "pc/fast"},
                .tolerance = tolerance};
  FolderPart part{.name = "model", .reference = "fp32", .variants = std::move(variants)};
  conclude(part, folder);
  return part;
}

bool has(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

}  // namespace

TEST_CASE("Smallest_Predictions_CountAndNotTheDrift") {
  const FolderPart part =
      concluded({variant("fp32", 100, {cell("pc/strict", 0.0, true), cell("pc/fast", 1e-7, true)}),
                 variant("q8", 30, {cell("pc/strict", 0.3, true), cell("pc/fast", 0.3, true)}),
                 variant("q4", 20, {cell("pc/strict", 0.01, true), cell("pc/fast", 0.01, false)})});
  CHECK(part.rule == "prediction");
  CHECK(part.smallest == "q8");
  REQUIRE(part.excluded.size() == 1);
  CHECK(part.excluded[0].why == "another prediction on pc/fast");
  CHECK(has(part.conclusion, "on both targets"));
}

TEST_CASE("Smallest_Numbers_AreJudgedByTheTolerance") {
  const std::vector<FolderVariant> variants = {
      variant("fp32", 100, {cell("pc/strict", 0.0), cell("pc/fast", 0.0)}),
      variant("fp16", 50, {cell("pc/strict", 0.01), cell("pc/fast", 0.009)}),
      variant("q8", 30,
              {cell("pc/strict", 0.002), cell("pc/fast", std::numeric_limits<double>::quiet_NaN())})};
  CHECK(concluded(variants).smallest == "fp16");
  CHECK(concluded(variants).rule == "drift");
  CHECK(concluded(variants, 0.001).smallest == "fp32");
  CHECK(concluded(variants, 1e6).smallest == "fp16");  // NaN is never within
}

TEST_CASE("Smallest_FaultsAndFailures_Exclude") {
  auto faulty = cell("pc/fast", 0.0, true);
  faulty.verdict = "fault";
  faulty.first_fault = "conv1";
  FolderVariant broken{.name = "q4", .bytes = 1, .error = "truncated"};
  FolderCell failed{.target = "pc/fast", .error = "no such operator"};
  const FolderPart part = concluded({variant("fp32", 100, {cell("pc/strict", 0.0, true), faulty}),
                                     variant("q8", 30, {cell("pc/strict", 0.0, true), failed}), broken});
  CHECK(part.smallest.empty());
  CHECK(has(part.conclusion, "No variant keeps the answers"));
  REQUIRE(part.excluded.size() == 3);
  CHECK(part.excluded[0].why == "a layer is a fault on pc/fast, first conv1");
  CHECK(part.excluded[1].why == "it did not run on pc/fast");
}

TEST_CASE("Smallest_ATargetWhereNothingRan_IsLeftOutAndSaid") {
  const FolderCell failed{.target = "pc/fast", .error = "not here"};
  const FolderPart part = concluded({variant("fp32", 100, {cell("pc/strict", 0.0, true), failed}),
                                     variant("q8", 30, {cell("pc/strict", 0.1, true), failed})});
  CHECK(part.smallest == "q8");
  CHECK(has(part.conclusion, "pc/fast is left out: no variant ran there"));
  CHECK(concluded({variant("fp32", 1, {failed})}).conclusion == "No variant ran, so none can be named.");
}

TEST_CASE("Folder_TextAndPage_EscapeNames_AndShowEveryReason") {
  Folder folder{.folder = "<b>f</b>", .reference_target = "pc/strict", .targets = {"pc/strict"}};
  FolderCell failed{.target = "pc/strict", .error = "<script>alert(1)</script>"};
  FolderPart part{.name = "m<i>", .reference = "fp32"};
  part.variants = {variant("fp32", 2'000'000, {cell("pc/strict", 0.0, true)}),
                   variant("q4\x1b[31m", 1000, {failed}),
                   FolderVariant{.name = "q8", .bytes = 5, .error = "external data \"x\" <missing>"}};
  part.notes = {"a <note>"};
  conclude(part, folder);
  folder.parts = {part};
  folder.not_recognised = {"<odd>.onnx"};
  const std::string html = folder_page(folder);
  for (const char* const raw : {"<script>alert", "<b>f</b>", "<i>", "<missing>", "<note>", "<odd>", "\x1b"})
    CHECK_FALSE(has(html, raw));
  CHECK(has(html, "&lt;script&gt;alert(1)"));
  CHECK(has(html, "class=\"pick\""));
  const std::string text = folder_text(folder);
  CHECK_FALSE(has(text, "\x1b"));
  CHECK(has(text, "did not run"));
  CHECK(has(text, "q8: external data"));
  CHECK(has(text, "Not recognised as a variant: <odd>.onnx"));
  CHECK(has(text, "Excluded: "));
  CHECK(has(text, "2.00 MB"));
}

}  // namespace driftscope::test::smallest_test
