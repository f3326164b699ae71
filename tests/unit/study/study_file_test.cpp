// Studies as people write them: what is wrong is refused before anything runs, with its line.
#include "core/study/study_file.hpp"

#include <doctest/doctest.h>

#include "core/study/json_line.hpp"
#include "core/study/shipped_studies.hpp"

namespace driftscope::test::study_file_test {
namespace {

constexpr std::string_view good = R"({
 "format": "driftscope-study-1",
 "name": "mine", "title": "Mine", "about": "",
 "models": [
  {"name": "net", "path": "net.onnx",
   "variants": [{"name": "int8", "path": "net8.onnx"}],
   "data": [{"name": "original", "source": "idx:a,b"}]}
 ],
 "targets": ["pc/strict", "chrome/fast"],
 "attacks": [{"name": "small", "method": "fgsm", "epsilon": 0.1, "models": ["net"]}],
 "tables": [{"name": "I", "title": "T", "columns": ["acc"], "measures": ["accuracy:original"],
   "rows": [{"model": "Net", "of": "net", "on": "PC", "host": "pc", "cells": ["99"]}]}],
 "claims": [{"text": "c", "kind": "same_answers", "models": ["net"], "left": "pc/strict",
   "hosts": ["chrome"]}]
})";

std::string with(std::string_view from, std::string_view to) {
  std::string text(good);
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string failure(const std::string& text) {
  const auto study = read_study(text);
  REQUIRE_MESSAGE(!study.ok(), "the study was accepted");
  return study.error().message;
}

bool says(const std::string& message, std::string_view part) {
  INFO(message);
  return message.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("Study_Good_HasItsSubjects") {
  const auto study = read_study(good);
  REQUIRE_MESSAGE(study.ok(), study.error().message);
  const std::vector<StudySubject> subjects = subjects_of(*study);
  REQUIRE(subjects.size() == 2);
  CHECK(subjects[0].name() == "net");
  CHECK(subjects[1].name() == "net int8");
  CHECK(subjects[1].path == "net8.onnx");
}

TEST_CASE("Study_UnknownFields_AreRefusedWithTheirLine") {
  CHECK(says(failure(with("\"about\"", "\"abuot\": \"\", \"about\"")),
             "line 3: abuot: there is no such field"));
  const std::string inner = failure(with("\"source\"", "\"sorce\": \"\", \"source\""));
  CHECK(says(inner, "line 7: models[0].data[0].sorce"));
  CHECK(says(inner, "expected name, source"));
}

TEST_CASE("Study_WhatIsWrong_IsSaidWithItsLine") {
  CHECK(says(failure(with("\"net.onnx\"", "7")), "line 5: models[0].path"));
  CHECK(says(failure(with("\"chrome/fast\"", "\"chrome\"")), "line 9: targets[1]"));
  CHECK(says(failure(with("\"chrome/fast\"", "\"pc/strict\"")), "'pc/strict' occurs twice"));
  CHECK(says(failure(with("accuracy:original", "beauty")), "line 11: tables[0].measures[0]: 'beauty'"));
  CHECK(says(failure(with("[\"99\"]", "[]")), "line 12: tables[0].rows[0].cells: expected one for each"));
  CHECK(says(failure(with("\"of\": \"net\"", "\"of\": \"nat\"")), "'nat' is no model of the study: net"));
  CHECK(says(failure(with("same_answers", "sane_answers")), "line 13: claims[0].kind"));
  CHECK(says(failure(with("\"left\": \"pc/strict\"", "\"left\": \"pc/ort\"")), "claims[0].left"));
  CHECK(says(failure(with("\"name\": \"int8\"", "\"name\": \"float32\"")), "occurs twice"));
  CHECK(says(failure(with("\"name\": \"net\"", "\"name\": \"a b\"")), "line 5: models[0].name"));
  CHECK(says(failure(with("\"targets\":", "\"samples\": 0, \"targets\":")), "samples: expected at least 1"));
  CHECK(says(failure(with("driftscope-study-1", "driftscope-study-9")), "line 2: format"));
  CHECK(says(failure(with("\"fgsm\"", "\"charm\"")), "line 10: attacks[0].method"));
  CHECK(says(failure(with("\"epsilon\": 0.1", "\"epsilon\": 0")), "line 10: attacks[0].epsilon"));
  CHECK(says(failure("[]"), "expected an object"));
  CHECK_FALSE(read_study(std::string(good).substr(0, 200)).ok());
}

TEST_CASE("Study_Shipped_CanBeRead") {
  CHECK(shipped_studies().size() >= 2);
  for (const ShippedStudy& shipped : shipped_studies()) {
    const auto study = read_study(shipped.text);
    REQUIRE_MESSAGE(study.ok(), shipped.name, ": ", study.error().message);
    CHECK(study->name == shipped.name);
  }
}

TEST_CASE("JsonLine_EscapesAndNesting_AreSkipped") {
  const std::string_view text = "{\"a\\\"]\": [1, {\"x\": \"}\"},\n 3],\n\"b\": [[1,\n2], {\"c\":\n 5}]}";
  CHECK(json_line(text, "b[0][1]") == 4);
  CHECK(json_line(text, "b[1].c") == 5);
  CHECK(json_line(text, "b") == 3);
  CHECK(json_line(text, "nothing") == 1);
  CHECK(json_line(text, "") == 1);
  CHECK(json_line("", "a.b[3]") == 1);
}

}  // namespace driftscope::test::study_file_test
