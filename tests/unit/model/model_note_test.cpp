#include "core/model/model_note.hpp"

#include <doctest/doctest.h>

#include "core/model/strict_notes.hpp"
#include "unit/support/model_builder.hpp"

namespace driftscope::test::model_note_test {
namespace {

std::vector<std::string> texts(const std::vector<ModelNote>& notes) {
  std::vector<std::string> list;
  for (const ModelNote& note : notes) list.push_back(note_text(note));
  return list;
}

std::vector<std::string> strict(const ModelBuilder& builder) {
  const auto model = read_onnx(builder.bytes());
  REQUIRE_MESSAGE(model.ok(), model.error().message);
  return texts(strict_notes(*model));
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("NoteLines_OneForEachKindWithTheFirst") {
  std::vector<ModelNote> notes;
  const ModelNote shape{NoteKind::declared_shape, "conv", "y", "2x4", "2x3"};
  add_note(notes, shape);
  add_note(notes, {NoteKind::opaque_operator, "n", "com.example.F", "", "node n: operator F is not known"});
  add_note(notes, {NoteKind::declared_shape, "relu", "z", "2x4", "2x3"});
  add_note(notes, shape);
  CHECK(notes.size() == 3);
  const Texts lines = note_lines(notes);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] ==
        "2 values have other shapes than the model declares, the first: value 'y' of node 'conv': the model "
        "declares shape 2x4, the operator makes 2x3");
  CHECK(lines[1] ==
        "1 node has an operator without a reference here and is not judged: node n: operator F is not known");
}

TEST_CASE("StrictNotes_WhatCheckersRefuseAndRuntimesDoNot") {
  ModelBuilder usual("usual");
  usual.input("x", DType::float32, {2})
      .initializer("w", tensor<float>({2}, {1, 2}))
      .node("Add", {"x", "w"}, {"y"})
      .output("y", DType::float32, {2});
  CHECK(strict(usual).empty());
  CHECK(strict(ModelBuilder(usual).opset("com.example", 3)) ==
        Texts{"domain 'com.example' is imported as opset 3, and no node uses it (functions are inlined)"});
  CHECK(strict(ModelBuilder(usual).ir_version(3)) ==
        Texts{"initializer 'w' is not among the inputs, as IR version 3 asks for"});
  ModelBuilder odd("");
  odd.input("x", DType::float32, {2}).node("Neg", {"y"}, {"z"}).node("Relu", {"x"}, {"y"}).output("z");
  CHECK(strict(odd) == Texts{"the graph has no name", "output 'z': the model does not say its type",
                             "node 'Neg_0' stands before the node that makes its input 'y'"});
}

}  // namespace driftscope::test::model_note_test
