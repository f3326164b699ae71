#include "core/inputs/value_rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/inputs/name_patterns.hpp"
#include "core/model/dtype.hpp"

namespace driftscope {
namespace {

constexpr std::int64_t usual_rate = 16000;  // Hz: what most models of speech take

enum Types : unsigned { floats = 1, integers = 2, booleans = 4, any_type = 7 };

unsigned type_of(DType dtype) {
  if (dtype == DType::boolean) return booleans;
  return is_floating(dtype) ? floats : integers;
}

Shape shape_of(const Value& value) { return value.static_shape().value_or(Shape()); }

constexpr const char* states =
    "past* *_past* *cache* *state* h c h0 c0 h_0 c_0 hn cn h_n c_n hx cx h_in c_in *hidden*";
constexpr const char* no_states =
    "*hidden_states* *hidden_state *statement* *status* use_cache* cache_position*";

bool is_state(const Value& value) {
  const std::string name = lower_case(value.name);
  return matches_any(states, name) && !matches_any(no_states, name) && type_of(value.dtype) == floats &&
         shape_of(value).size() >= 2;
}

FixedValues everywhere(std::string text, std::int64_t number) {
  return {std::move(text), {number}, std::nullopt};
}

std::optional<FixedValues> ones(const WantedInput& /*input*/) { return everywhere("ones", 1); }
std::optional<FixedValues> zeros(const WantedInput& /*input*/) { return everywhere("zeros", 0); }

/// Beside an input that is none: a network of a game, say, has its state as only input.
std::optional<FixedValues> fresh_state(const WantedInput& input) {
  if (!is_state(input.value())) return std::nullopt;
  const bool alone =
      std::ranges::all_of(input.bound.inputs, [&](ValueId id) { return is_state(input.bound.values[id]); });
  return alone ? std::nullopt : std::optional(everywhere("zeros", 0));
}

/// Behind what a cache holds already.
std::optional<FixedValues> positions(const WantedInput& input) {
  std::int64_t past = 0;
  for (const ValueId id : input.bound.inputs) {
    const Value& other = input.bound.values[id];
    const Shape shape = shape_of(other);
    if (shape.size() == 4 && matches_any("past*", lower_case(other.name))) {
      past = shape[2];
      break;
    }
  }
  return FixedValues{"ascending", {}, past};
}

std::optional<FixedValues> rate(const WantedInput& input) {
  if (element_count(shape_of(input.value())) != 1) return std::nullopt;
  return everywhere(std::to_string(usual_rate), usual_rate);
}

/// Of the sequences that the first input with such an axis has: its last axis that is not a batch, where the
/// model leaves one open, else its last.
std::optional<FixedValues> lengths(const WantedInput& input) {
  if (shape_of(input.value()).size() > 1) return std::nullopt;
  for (const ValueId id : input.bound.inputs) {
    const Shape shape = shape_of(input.bound.values[id]);
    if (id == input.bound.inputs[input.place] || shape.size() < 2) continue;
    std::int64_t longest = shape.back();
    // Features are rarely longer than time, where there are both.
    for (std::size_t axis = 1; axis < shape.size(); ++axis) longest = std::max(longest, shape[axis]);
    return everywhere(std::to_string(longest), longest);
  }
  return std::nullopt;
}

std::optional<FixedValues> scale(const WantedInput& input) {
  return element_count(shape_of(input.value())) <= 4 ? std::optional(everywhere("ones", 1)) : std::nullopt;
}

/// Height and width of the picture beside it.
std::optional<FixedValues> picture_size(const WantedInput& input) {
  const Shape own = shape_of(input.value());
  if (own.empty() || own.back() != 2) return std::nullopt;
  for (const ValueId id : input.bound.inputs) {
    const Shape shape = shape_of(input.bound.values[id]);
    if (shape.size() != 4) continue;
    const bool last = shape[3] <= 4 && shape[1] > 4;
    const std::int64_t height = shape[last ? 1 : 2], width = shape[last ? 2 : 3];
    return FixedValues{fmt::format("{} {}", height, width), {height, width}, std::nullopt};
  }
  return std::nullopt;
}

struct Rule {
  const char* names;
  const char* except;
  unsigned types;
  std::optional<FixedValues> (*values)(const WantedInput& input);
};
/// The first that fits has the input.
constexpr Rule rules[] = {
    {"*mask*", "*masked*", any_type, &ones},
    {"*token_type* *segment_id* input_segments", "", integers, &zeros},
    {"*position_id* *pos_id* cache_position* positions", "", integers, &positions},
    {states, no_states, floats, &fresh_state},
    {"sr fs *sample_rate* *sampling_rate* samplerate", "", integers | floats, &rate},
    {"*length *lengths *_len *_lens *lens", "", integers, &lengths},
    {"*scale *scales *scale_factor* *temperature* speed", "", floats, &scale},
    {"im_shape *image_size* *img_size* *image_shape* orig*size* *target_size*", "", integers | floats,
     &picture_size},
    {"use_cache*", "", booleans, &ones},
    {"*training* is_train* train train_mode", "", booleans, &zeros},
};

}  // namespace

std::optional<FixedValues> fixed_values(const WantedInput& input) {
  const std::string name = lower_case(input.value().name);
  for (const Rule& rule : rules)
    if ((type_of(input.value().dtype) & rule.types) != 0 && matches_any(rule.names, name) &&
        !matches_any(rule.except, name))
      return rule.values(input);
  return std::nullopt;
}

}  // namespace driftscope
