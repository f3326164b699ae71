// Values that a page has packed: taken as they were, and no more unpacked than they say.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/base/json.hpp"
#include "core/protocol/service.hpp"
#include "native/http/compression.hpp"
#include "native/http/raw_http.hpp"

namespace driftscope::test::packed_values_test {
namespace {

using namespace testing;

std::span<const std::byte> bytes_in(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string packed(const std::string& text) { return compress(Coding::gzip, text).value(); }

struct ValuesSite : TestSite {
  std::vector<std::string> names;
  std::shared_ptr<Job> job;

  ValuesSite() {
    JobContent content;
    content.description = R"({"format":"driftscope-job-1"})";
    content.values = std::make_unique<ValueReceiver>(
        [this](const std::string& name, const Tensor& tensor) {
          names.push_back(fmt::format("{} {}", name, element_count(tensor.shape())));
          return Status();
        },
        1 << 20);
    job = *server->jobs().add(std::move(content));
  }
  int send(const std::string& query, const std::string& body) {
    return status_of(post(fmt::format("/api/jobs/{}/values?{}", job->id(), query), body));
  }
};

/// A message with a value of zeros.
std::string message_of(std::int64_t elements) {
  ValueStream stream;
  const std::vector<float> zeros(static_cast<std::size_t>(elements), 0.0F);
  stream.add("zeros", *Tensor::from_values<float>({elements}, zeros));
  const auto pieces = stream.take(std::size_t{1} << 20);
  const auto message = pack_message(json_text(nlohmann::json{{"values", pieces.table}}), pieces.payload);
  return {reinterpret_cast<const char*>(message.data()), message.size()};
}

}  // namespace

TEST_CASE("PackedValues_AreTakenAsTheyWere") {
  ValuesSite site;
  const std::string message = message_of(2000);
  const std::string body = packed(message);
  CHECK(body.size() < message.size() / 10);
  CHECK(site.send(fmt::format("piece=0&unpacked={}", message.size()), body) == 200);
  CHECK(site.names == std::vector<std::string>{"zeros 2000"});
  // Sent again where its answer was lost, it counts once.
  CHECK(site.send(fmt::format("piece=0&unpacked={}", message.size()), body) == 200);
  CHECK(site.names.size() == 1);
}

TEST_CASE("PackedValues_ThatAreNotWhatTheySay_AreRefused") {
  ValuesSite site;
  const std::string message = message_of(2000);
  const std::string body = packed(message);
  CHECK(site.send(fmt::format("piece=0&unpacked={}", message.size() - 1), body) == 400);
  CHECK(site.send(fmt::format("piece=0&unpacked={}", message.size() + 1), body) == 400);
  CHECK(site.send("piece=0&unpacked=67108865", packed(std::string(67'108'865, '\0'))) == 400);
  CHECK(site.send("piece=0&unpacked=99999999999999", body) == 400);
  CHECK(site.send(fmt::format("piece=0&unpacked={}", message.size()), body.substr(0, body.size() - 3)) ==
        400);
  CHECK(site.send(fmt::format("piece=0&unpacked={}", message.size()), body + "x") == 400);
  CHECK(site.send(fmt::format("piece=0&unpacked={}", message.size()), message) == 400);
  CHECK(site.names.empty());
  // None of them has ended the job.
  CHECK(site.send("piece=0", message) == 200);
  CHECK(site.names.size() == 1);
}

TEST_CASE("UnpackGzip_GivesTheBytesOrAnError") {
  const std::string text = "some bytes";
  const auto plain = unpack_gzip(bytes_in(packed(text)), text.size());
  REQUIRE(plain.ok());
  CHECK(std::string(reinterpret_cast<const char*>(plain->data()), plain->size()) == text);
  CHECK(unpack_gzip(bytes_in(packed("")), 0).ok());
  CHECK_FALSE(unpack_gzip(bytes_in(packed(text)), 0).ok());
  CHECK_FALSE(unpack_gzip({}, 0).ok());
}

}  // namespace driftscope::test::packed_values_test
