// JSON in pieces against the same as one tree.
#include "core/base/json_writer.hpp"

#include <doctest/doctest.h>

#include "core/base/json.hpp"
#include "core/base/rng.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::json_writer_test {
namespace {

using Json = nlohmann::ordered_json;

Json random_value(Rng& rng, int depth) {
  switch (rng.below(depth > 0 ? 7 : 5)) {
    case 0: return nullptr;
    case 1: return static_cast<std::int64_t>(rng.below(1'000'000)) - 500'000;
    case 2: return static_cast<double>(rng.below(1'000'000)) * 1e-9;
    case 3: return "two\nlines, \"quoted\" \xc3\xa9\t\x01";
    case 4: return rng.below(2) == 0;
    case 5: {
      Json array = Json::array();
      for (std::size_t i = rng.below(4); i > 0; --i) array.push_back(random_value(rng, depth - 1));
      return array;
    }
    default: {
      Json object = Json::object();
      for (std::size_t i = rng.below(4); i > 0; --i)
        object["key \"" + std::to_string(i)] = random_value(rng, depth - 1);
      return object;
    }
  }
}

/// Objects and arrays begun and ended one by one down to `levels`, whole values below.
void write(JsonWriter& out, const Json& value, int levels) {
  if (levels == 0 || !value.is_structured()) return out.value(value);
  if (value.is_object()) {
    out.begin_object();
    for (const auto& [key, member] : value.items()) {
      out.key(key);
      write(out, member, levels - 1);
    }
  } else {
    out.begin_array();
    for (const Json& entry : value) write(out, entry, levels - 1);
  }
  out.end();
}

}  // namespace

TEST_CASE("JsonWriter_Pieces_AreTheTextOfTheTree") {
  const std::uint64_t seed = test_seed(31);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int round = 0; round < repetitions(300); ++round) {
    const Json value = random_value(rng, 5);
    for (int levels = 0; levels < 6; ++levels) {
      JsonWriter out;
      write(out, value, levels);
      CHECK(out.take() == json_text(value, 1));
    }
  }
}

TEST_CASE("JsonWriter_TextThatIsNoUtf8_IsRepaired") {
  JsonWriter out;
  out.begin_object();
  out.member("\xff", "a\xfe");
  out.end();
  CHECK(!parse_json(out.take()).is_discarded());
}

}  // namespace driftscope::test::json_writer_test
