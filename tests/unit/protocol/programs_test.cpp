// The programs of a node as a document, and the service's "programs".
#include <doctest/doctest.h>

#include "core/base/json.hpp"
#include "core/protocol/programs.hpp"
#include "core/protocol/service.hpp"
#include "core/report/programs_text.hpp"
#include "generated/protocol/messages.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::programs_test {
namespace {

using nlohmann::json;
using Bytes = std::vector<std::byte>;

NodePrograms two_programs() {
  NodePrograms made;
  made.language = "WGSL";
  made.device = "a GPU";
  made.driver = "a driver";
  made.software = true;
  made.draws = true;
  made.nodes = {"Conv conv1", "Relu \"relu\""};
  made.on_strict = true;
  made.programs.push_back({.file = "move.wgsl", .code = "", .groups = {1, 2, 4'294'967'295}, .bindings = {}});
  made.programs.push_back({.file = "product.wgsl",
                           .code = "// × \n\tfn main() {}\n",
                           .groups = {4, 2, 1},
                           .bindings = {{.what = "weights",
                                         .dtype = DType::float16,
                                         .shape = {6, 25},
                                         .bytes = 608,
                                         .layout = "",
                                         .written = false},
                                        {.what = "y",
                                         .dtype = DType::float32,
                                         .shape = {},
                                         .bytes = 13824,
                                         .layout = "channels last (6)",
                                         .written = true}}});
  return made;
}

json document_of(const NodePrograms& programs) {
  const Bytes written = write_programs(programs);
  return parse_json({reinterpret_cast<const char*>(written.data()), written.size()});
}

Result<NodePrograms> read_json(const json& document) {
  const std::string text = json_text(document);
  return read_programs(std::as_bytes(std::span(text)));
}

std::string failure(const json& document) {
  const auto read = read_json(document);
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().kind == ErrorKind::bad_input);
  return read.error().message;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

json ask(Service& service, const json& request, const Bytes& payload = {}) {
  const Bytes reply = service.request(pack_message(json_text(request), payload));
  return parse_json(unpack_message(reply).json);
}

std::string error_of(const json& answer) {
  REQUIRE(answer.contains("error"));
  return answer["error"]["message"].get<std::string>();
}

}  // namespace

TEST_CASE("Programs_WrittenAndRead_AreTheSame") {
  for (const NodePrograms& programs : {two_programs(), NodePrograms{}}) {
    const auto read = read_programs(write_programs(programs));
    REQUIRE_MESSAGE(read.ok(), read.error().message);
    CHECK(programs_text(*read, "webgpu") == programs_text(programs, "webgpu"));
    CHECK(document_of(*read) == document_of(programs));
    CHECK(read->software == programs.software);
    CHECK(read->draws == programs.draws);
    CHECK(read->on_strict == programs.on_strict);
  }
}

TEST_CASE("Programs_Written_AreTheDocumentOfTheSchema") {
  const json document = document_of(two_programs());
  messages::NodePrograms decoded;
  const Status read = decode(document, decoded);
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  CHECK(encode(decoded) == document);
}

TEST_CASE("Programs_OfAnotherForm_AreErrorsThatNameTheField") {
  const json good = document_of(two_programs());
  json bad = good;
  bad.erase("device");
  CHECK(contains(failure(bad), "\"device\" is missing"));
  bad = good;
  bad["programs"][1]["groups"] = {1, 2};
  CHECK(contains(failure(bad), "field \"groups\": expected 3 numbers, got 2"));
  bad["programs"][1]["groups"] = {1, 2, 4'294'967'296};
  CHECK(contains(failure(bad), "groups"));
  bad = good;
  bad["programs"][1]["bindings"][0]["dtype"] = "float33";
  CHECK(contains(failure(bad), "float33"));
  bad = good;
  bad["programs"][1]["bindings"][0]["shape"] = {-1};
  CHECK(contains(failure(bad), "shape"));
  CHECK_FALSE(read_programs({}).ok());
  CHECK_FALSE(read_json(json::array()).ok());
}

TEST_CASE("Programs_OfAService_NeedAPreparedEngineWithShaders") {
  Service service;
  CHECK(contains(error_of(ask(service, {{"do", "programs"}, {"node", 0}})), "before \"prepare\""));
  const Bytes model =
      ModelBuilder().input("x", DType::float32, {4}).node("Relu", {"x"}, {"y"}).output("y").bytes();
  REQUIRE_FALSE(ask(service, {{"do", "load"}}, model).contains("error"));
  const json prepared = ask(service, {{"do", "prepare"}, {"target", "pc/strict"}, {"seed", 1}});
  REQUIRE_MESSAGE(!prepared.contains("error"), json_text(prepared));
  CHECK(contains(error_of(ask(service, {{"do", "programs"}, {"node", 0}})), "pc/strict has no shaders"));
  CHECK(contains(error_of(ask(service, {{"do", "programs"}, {"node", 1}})), "there is no node 1"));
  CHECK(contains(error_of(ask(service, {{"do", "programs"}})), "\"node\" is missing"));
}

}  // namespace driftscope::test::programs_test
