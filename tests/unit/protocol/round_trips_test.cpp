// Every message of the schema: random ones survive a round trip, damaged ones are errors or do
// too, and arbitrary bytes are parsed without harm.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/json.hpp"
#include "core/base/rng.hpp"
#include "core/protocol/batch.hpp"
#include "core/protocol/service.hpp"
#include "core/protocol/value_stream.hpp"
#include "generated/protocol/round_trips.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::round_trips_test {
namespace {

using nlohmann::json;

json random_object(Rng& rng, const ObjectSpec& spec);

std::string random_text(Rng& rng) {
  const char* const texts[] = {"", "conv1", "a\nb", "\"", "\xc3\xa9", "pc/strict:threads=2"};
  return texts[rng.below(std::size(texts))];
}

json random_anything(Rng& rng) {
  switch (rng.below(6)) {
    case 0: return static_cast<std::int64_t>(rng.next() >> 2);
    case 1: return -0.5;
    case 2: return random_text(rng);
    case 3: return rng.below(2) == 0;
    case 4: return json::array({1, json::object({{"a", nullptr}})});
    default: return json::object({{"key", random_text(rng)}});
  }
}

json random_one(Rng& rng, const FieldSpec& field) {
  switch (field.kind) {
    case FieldKind::text: return random_text(rng);
    case FieldKind::whole: {
      const std::uint64_t range = field.high - field.low;
      const std::uint64_t edges[] = {field.low, field.high, field.low + range / 2};
      return edges[rng.below(3)];
    }
    case FieldKind::number: return static_cast<double>(rng.below(1000)) / 8.0;
    case FieldKind::flag: return rng.below(2) == 0;
    case FieldKind::choice: return std::string(field.choices[rng.below(field.choices.size())]);
    case FieldKind::object: return random_object(rng, *field.object);
    case FieldKind::facts: return json::object({{"a", 1}, {"b", random_text(rng)}, {"c", nullptr}});
    case FieldKind::any:
    case FieldKind::bytes: break;
  }
  return random_anything(rng);
}

/// With every required field and some of the others.
json random_object(Rng& rng, const ObjectSpec& spec) {
  json object = json::object();
  for (const FieldSpec& field : spec.fields) {
    if (!field.required && rng.below(2) == 0) continue;
    json& value = object[std::string(field.name)];
    if (field.nullable && rng.below(3) == 0) continue;  // null
    if (!field.list) {
      value = random_one(rng, field);
      continue;
    }
    value = json::array();
    for (std::size_t i = rng.below(3); i > 0; --i) value.push_back(random_one(rng, field));
  }
  return object;
}

/// The expected result for `given`: all of it, plus the defaults.
bool holds(const ObjectSpec& spec, const json& again, const json& given) {
  for (const FieldSpec& field : spec.fields) {
    const std::string name(field.name);
    if (given.contains(name)) {
      if (field.kind != FieldKind::object) {
        if (again.value(name, json("absent")) != given[name]) return false;
      } else if (!field.list) {
        if (!holds(*field.object, again[name], given[name])) return false;
      } else {
        for (std::size_t i = 0; i < given[name].size(); ++i)
          if (!holds(*field.object, again[name][i], given[name][i])) return false;
      }
    } else if (!field.default_text.empty()) {
      if (again[name] != parse_json(field.default_text)) return false;
    } else if (again.contains(name)) {
      return false;
    }
  }
  return true;
}

/// Changes something somewhere in a message.
void damage(Rng& rng, json& value) {
  if (value.is_structured() && !value.empty() && rng.below(4) != 0) {
    auto entry = value.begin();
    std::advance(entry, static_cast<std::ptrdiff_t>(rng.below(value.size())));
    return damage(rng, *entry);
  }
  if (value.is_object() && rng.below(2) == 0) {
    value["unknown"] = 1;
  } else {
    value = random_anything(rng);
  }
}

std::vector<std::byte> random_bytes(Rng& rng, std::size_t max_size) {
  std::vector<std::byte> bytes(rng.below(max_size + 1));
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng.next() >> 56);
  return bytes;
}

}  // namespace

TEST_CASE("Messages_Random_ComeBackTheSame") {
  const std::uint64_t seed = test_seed(1117);
  SEED_INFO(seed);
  Rng rng(seed);
  for (const auto& [spec, run] : messages::round_trips) {
    CAPTURE(spec->title);
    for (int round = 0; round < repetitions(50); ++round) {
      const json given = random_object(rng, *spec);
      CAPTURE(json_text(given));
      const auto again = run(given);
      REQUIRE_MESSAGE(again.ok(), again.error().message);
      CHECK(holds(*spec, *again, given));
      CHECK(run(*again).ok());
    }
  }
}

TEST_CASE("Messages_Damaged_AreErrorsOrStillFit") {
  const std::uint64_t seed = test_seed(1118);
  SEED_INFO(seed);
  Rng rng(seed);
  int errors = 0;
  for (const auto& [spec, run] : messages::round_trips) {
    CAPTURE(spec->title);
    for (int round = 0; round < repetitions(100); ++round) {
      json given = random_object(rng, *spec);
      damage(rng, given);
      CAPTURE(json_text(given));
      const auto again = run(given);
      CHECK(again.ok() == check_object(*spec, given).ok());
      if (again.ok()) {
        CHECK(run(*again).ok());
      } else {
        ++errors;
        CHECK(again.error().message.starts_with(spec->title));
      }
    }
  }
  CHECK(errors > 100);
}

TEST_CASE("Messages_OfRandomBytes_AreTakenApartWithoutHarm") {
  const std::uint64_t seed = test_seed(1119);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int round = 0; round < repetitions(2000); ++round) {
    std::vector<std::byte> bytes = random_bytes(rng, 64);
    // A length that fits, and one that nearly does, are the most interesting.
    if (bytes.size() >= 4 && rng.below(2) == 0) {
      bytes[0] = static_cast<std::byte>(bytes.size() - 4 + rng.below(3) - 1);
      bytes[1] = bytes[2] = bytes[3] = std::byte{0};
    }
    const Message message = unpack_message(bytes);
    CHECK(message.json.size() + message.payload.size() <= bytes.size());
    CHECK_FALSE(unpack_answers(bytes, 1).ok());
    CHECK_FALSE(
        ValueReceiver([](const std::string&, const Tensor&) { return Status(); }, 100).take(bytes).ok());
  }
}

TEST_CASE("Message_Packed_ComesApartAsItWas") {
  const std::uint64_t seed = test_seed(1120);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int round = 0; round < repetitions(200); ++round) {
    const std::string text(rng.below(300), 'x');
    const auto payload = random_bytes(rng, 300);
    const auto bytes = pack_message(text, payload);
    const Message message = unpack_message(bytes);
    CHECK(message.json == text);
    CHECK(std::ranges::equal(message.payload, payload));
    for (const std::size_t cut : {bytes.size() - 1, std::size_t{3}})
      CHECK(unpack_message(std::span(bytes).first(std::min(cut, bytes.size() - 1))).json.size() <=
            text.size());
  }
}

}  // namespace driftscope::test::round_trips_test
