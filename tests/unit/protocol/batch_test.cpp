#include "core/protocol/batch.hpp"
#include "core/base/json.hpp"

#include <doctest/doctest.h>

#include "core/protocol/service.hpp"
#include "core/trace/trace_file.hpp"

namespace driftscope::test::batch_test {
namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

std::vector<std::byte> small_trace(const std::string& target) {
  Trace trace;
  trace.target = target;
  const auto bytes = write_trace(trace);
  REQUIRE(bytes.ok());
  return *bytes;
}

}  // namespace

TEST_CASE("PackBatch_LaysModelAttachmentsAndInputsBehindOneAnother") {
  const auto model = bytes_of("model");
  const auto weights = bytes_of("weights");
  const std::vector<BatchCase> cases = {{model, {{"w.bin", weights}}, bytes_of("in")}, {weights, {}, {}}};
  const auto packed = pack_batch(cases);
  const Message message = unpack_message(packed);
  const auto head = parse_json(message.json);
  CHECK(head["cases"][0]["model"] == 5);
  CHECK(head["cases"][0]["attachments"][0]["name"] == "w.bin");
  CHECK(head["cases"][0]["inputs"] == 2);
  CHECK(head["cases"][1]["inputs"] == 0);
  CHECK(std::string(reinterpret_cast<const char*>(message.payload.data()), message.payload.size()) ==
        "modelweightsinweights");
}

TEST_CASE("UnpackAnswers_TracesAndErrors_KeepTheirOrder") {
  const auto first = small_trace("chrome/strict");
  const auto message = pack_message(R"({"cases":[{"error":{"kind":"unsupported","message":"no"}},{"trace":)" +
                                        std::to_string(first.size()) + "}]}",
                                    first);
  const auto answers = unpack_answers(message, 2);
  REQUIRE(answers.ok());
  REQUIRE((*answers)[0].ok() == false);
  CHECK((*answers)[0].error().kind == ErrorKind::unsupported);
  REQUIRE((*answers)[1].ok());
  CHECK((*answers)[1]->target == "chrome/strict");
}

TEST_CASE("UnpackAnswers_MalformedMessages_AreErrors") {
  const auto answers = [](std::string_view json) { return unpack_answers(pack_message(json, {}), 1); };
  CHECK_FALSE(unpack_answers({}, 1).ok());
  CHECK_FALSE(answers("[]").ok());
  CHECK_FALSE(answers(R"({"cases":{}})").ok());
  CHECK_FALSE(answers(R"({"cases":[]})").ok());  // one was requested
  for (const char* one : {"1", R"({"trace":-1})", R"({"trace":1.5})", R"({"trase":1})"})
    CHECK_FALSE(answers(std::string(R"({"cases":[)") + one + "]}").ok());
  for (const char* one : {"{}", R"({"trace":9})"}) {
    const auto result = answers(std::string(R"({"cases":[)") + one + "]}");
    REQUIRE(result.ok());
    CHECK_FALSE((*result)[0].ok());
  }
}

}  // namespace driftscope::test::batch_test
