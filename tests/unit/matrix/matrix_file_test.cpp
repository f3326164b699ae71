// Matrices as people write them: short forms, defaults, which cells there are; what is wrong is refused with
// its place.
#include "core/matrix/matrix_file.hpp"

#include <doctest/doctest.h>

#include "core/matrix/matrix_cells.hpp"

namespace driftscope::test::matrix_file_test {
namespace {

using nlohmann::ordered_json;

ordered_json good() {
  return {{"format", "driftscope-matrix-1"},
          {"models", {"a.onnx", {{"path", "b.onnx"}, {"name", "b"}}}},
          {"targets", {"pc/fast"}}};
}

std::string failure(const ordered_json& document) {
  const auto matrix = read_matrix(document);
  REQUIRE_MESSAGE(!matrix.ok(), "the matrix was accepted");
  return matrix.error().message;
}

/// With names, as the command gives them.
documents::Matrix named(const ordered_json& document) {
  auto matrix = read_matrix(document);
  REQUIRE_MESSAGE(matrix.ok(), matrix.error().message);
  for (documents::MatrixModel& model : matrix->models)
    if (model.name.empty()) model.name = model.path.substr(0, model.path.find('.'));
  return *matrix;
}

std::vector<std::string> cell_names(const ordered_json& document) {
  const documents::Matrix matrix = named(document);
  const auto targets = targets_of(matrix);
  REQUIRE(targets.ok());
  const auto cells = cells_of(matrix, *targets);
  REQUIRE_MESSAGE(cells.ok(), cells.error().message);
  std::vector<std::string> names;
  for (const MatrixPlace& cell : *cells)
    names.push_back(matrix.models[cell.model].name + " " + name_of(matrix.data[cell.data]) + " " +
                    (*targets)[cell.target]);
  return names;
}

std::string cells_failure(const ordered_json& document) {
  const documents::Matrix matrix = named(document);
  const auto cells = cells_of(matrix, *targets_of(matrix));
  REQUIRE_MESSAGE(!cells.ok(), "the cells were accepted");
  return cells.error().message;
}

}  // namespace

TEST_CASE("Matrix_ShortForms_BecomeObjects") {
  ordered_json document = good();
  document["data"] = {"seed:1", {{"input", "x.npy"}}, {{"dataset", "idx:a,b"}, {"name", "digits"}}};
  const auto matrix = read_matrix(document);
  REQUIRE(matrix.ok());
  CHECK(matrix->models[0].path == "a.onnx");
  CHECK(matrix->data[0].input == std::vector<std::string>{"seed:1"});
  CHECK(name_of(matrix->data[1]) == "x.npy");
  CHECK(name_of(matrix->data[2]) == "digits");
}

TEST_CASE("Matrix_NothingSaidOfData_IsASeed") {
  const auto matrix = read_matrix(good());
  REQUIRE(matrix.ok());
  REQUIRE(matrix->data.size() == 1);
  CHECK(name_of(matrix->data[0]) == "seed:42");
}

TEST_CASE("Matrix_HostsAndEngines_AreTargetsEachOnce") {
  ordered_json document = good();
  document["targets"] = {"pc/fast", "chrome/fast"};
  document["hosts"] = {"chrome", "webdriver:pixel8"};
  document["engines"] = {"fast", "strict:threads=2"};
  const auto matrix = read_matrix(document);
  REQUIRE(matrix.ok());
  CHECK(*targets_of(*matrix) == std::vector<std::string>{"pc/fast", "chrome/fast", "chrome/strict:threads=2",
                                                         "webdriver:pixel8/fast",
                                                         "webdriver:pixel8/strict:threads=2"});
}

TEST_CASE("Matrix_WhatIsWrong_IsSaidWithItsPlace") {
  const auto with = [](const char* key, ordered_json value) {
    ordered_json document = good();
    document[key] = std::move(value);
    return failure(document);
  };
  CHECK(failure(3) == "expected an object with format, models and targets");
  CHECK(with("format", "driftscope-matrix-9") ==
        "format: expected driftscope-matrix-1, got \"driftscope-matrix-9\"");
  CHECK(with("modles", {"a"}).starts_with("modles: there is no such field; expected format, title, models"));
  CHECK(with("models", ordered_json::array()) == "models: expected at least one");
  CHECK(with("models", {{{"pth", "a"}}}).starts_with("models[0].pth: there is no such field"));
  CHECK(with("models", {3}).starts_with("models[0]: expected"));
  CHECK(with("data", ordered_json::array({ordered_json::object()})) ==
        "data[0]: expected an input, or a dataset");
  CHECK(with("data", {"seed:1", "seed:1"}) == "data[1].name: 'seed:1' is there twice");
  CHECK(with("targets", ordered_json::array()) == "targets: expected at least one, or hosts and engines");
  CHECK(with("targets", {"pc/fast", "chrome"}).starts_with("targets[1]: "));
  CHECK(with("targets", {"file/a.safetensors"}) == "targets[0]: a matrix runs models; expected no trace");
  CHECK(with("hosts", {"chrome"}) == "engines: expected with hosts, on which they run");
  CHECK(with("engines", {"fast"}) == "hosts: expected with engines, which run on them");
  CHECK(with("left", "pc").starts_with("left: "));
  CHECK(with("run", {{"repeat", 0}}) == "run.repeat: expected 1 to 100000, got 0");
  CHECK(with("run", {{"repeat", 100'001}}) == "run.repeat: expected 1 to 100000, got 100001");
  CHECK(with("run", {{"times", -1.0}}).starts_with("run.times: expected 0 to 3600 seconds"));
  CHECK(with("run", {{"cell_seconds", 0}}).starts_with("run.cell_seconds: expected 1 to"));
}

TEST_CASE("MatrixCells_AreModelsByDataByTargets") {
  ordered_json document = good();
  document["data"] = {"seed:1", {{"input", "seed:2"}, {"models", {"b*"}}}};
  document["targets"] = {"pc/fast", "pc/webgl"};
  CHECK(cell_names(document) == std::vector<std::string>{"a seed:1 pc/fast", "a seed:1 pc/webgl",
                                                         "b seed:1 pc/fast", "b seed:1 pc/webgl",
                                                         "b seed:2 pc/fast", "b seed:2 pc/webgl"});
}

TEST_CASE("MatrixCells_OfAnExclusionAllListsMustFit") {
  ordered_json document = good();
  document["data"] = {"seed:1", "seed:2"};
  document["targets"] = {"pc/fast", "pc/webgl"};
  document["exclude"] = {{{"models", {"a"}}, {"targets", {"*/webgl"}}}, {{"data", {"seed:2"}}}};
  CHECK(cell_names(document) ==
        std::vector<std::string>{"a seed:1 pc/fast", "b seed:1 pc/fast", "b seed:1 pc/webgl"});
}

TEST_CASE("MatrixCells_NamesThatFitNothing_AreRefused") {
  ordered_json document = good();
  document["exclude"] = {{{"models", {"c*"}}}};
  CHECK(cells_failure(document) == "exclude[0].models[0]: 'c*' fits none of 'a, b'");
  document["exclude"] = {{{"targets", {"pc/fats"}}}};
  CHECK(cells_failure(document) == "exclude[0].targets[0]: 'pc/fats' fits none of 'pc/fast'");
  document["exclude"] = ordered_json::array({ordered_json::object()});
  CHECK(cells_failure(document).starts_with("exclude[0]: expected models, data or targets"));
  document["exclude"] = {{{"models", {"*"}}}};
  CHECK(cells_failure(document) == "exclude: nothing is left of the matrix");
}

}  // namespace driftscope::test::matrix_file_test
