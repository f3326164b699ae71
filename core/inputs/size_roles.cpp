#include "core/inputs/size_roles.hpp"

#include <algorithm>

#include "core/inputs/name_patterns.hpp"
#include "core/model/dtype.hpp"

namespace driftscope {
namespace {

constexpr std::int64_t max_channels = 4;  // of a picture: grey, RGB, RGBA

std::size_t rank_of(const OpenSize& open) { return open.input.shape->size(); }

bool is_number(const OpenSize& open) { return is_floating(open.input.dtype); }

bool known_above(const OpenSize& open, std::size_t axis, std::int64_t least, std::int64_t most) {
  const Dimension& dimension = (*open.input.shape)[axis];
  return dimension.known() && dimension.size >= least && dimension.size <= most;
}

/// Pixels: floating or bytes, with axes for height, width and channels.
bool is_picture(const OpenSize& open) {
  if (!is_number(open) && open.input.dtype != DType::uint8) return false;
  return rank_of(open) == 4 ||
         (rank_of(open) == 3 && known_above(open, 2, 1, max_channels) && open.input.dtype == DType::uint8);
}

bool channels_last(const OpenSize& open) {
  return known_above(open, rank_of(open) - 1, 1, max_channels) && !known_above(open, 1, 1, max_channels);
}

bool is_past(const OpenSize& open) {
  return matches_any("*past* *cache*", open.symbol) ||
         (open.symbol.empty() && open.axis > 0 && matches_any("past* *_past* *cache*", open.name));
}

bool is_batch(const OpenSize& open) {
  if (matches_any("n b bs *batch* num_images", open.symbol)) return true;
  if (!open.symbol.empty() &&
      matches_any("*seq* *len* *time* *sample* *frame* *height* *width* *token*", open.symbol))
    return false;
  if (open.axis == 0) return rank_of(open) >= 2 && !(is_picture(open) && rank_of(open) == 3);
  // Layers × batch × hidden: a recurrent state.
  return open.symbol.empty() && open.axis == 1 && rank_of(open) == 3 && known_above(open, 0, 1, 64) &&
         matches_any("h* c* *state* *hidden*", open.name);
}

bool is_channels(const OpenSize& open) {
  if (matches_any("c *channel*", open.symbol)) return true;
  if (!is_picture(open) || rank_of(open) != 4) return false;
  return open.axis == 1 && !channels_last(open) && !matches_any("*h* *w*", open.symbol);
}

/// A text line: a low picture whose width is open.
bool is_line_width(const OpenSize& open) {
  return is_picture(open) && rank_of(open) == 4 && open.axis == 3 && known_above(open, 2, 16, 64);
}

bool is_pixels(const OpenSize& open) {
  return (is_picture(open) && (open.axis > 0 || rank_of(open) == 3)) ||
         (is_number(open) && rank_of(open) == 5 && open.axis >= 2);
}

/// Samples of a sound: no other axis but a batch and one channel or two.
bool is_sound(const OpenSize& open) {
  if (!is_number(open) || rank_of(open) > 3) return false;
  for (std::size_t axis = 0; axis < rank_of(open); ++axis)
    if (axis != open.axis && (axis > 0 || rank_of(open) == 1) && !known_above(open, axis, 1, 2)) return false;
  return true;
}

bool is_tokens(const OpenSize& open) {
  return matches_any("*seq* *token* *text*", open.symbol) ||
         (!is_number(open) && open.input.dtype != DType::uint8);
}

/// Steps of something with features: mel frames, embeddings.
bool is_frames(const OpenSize& open) { return is_number(open) && rank_of(open) == 3; }

constexpr std::int64_t batch_sizes[] = {1, 2, 4, 8};
// One step of what came before: nothing at all is beyond what some runtimes run.
constexpr std::int64_t past_sizes[] = {1, 0, 16, 128};
constexpr std::int64_t channel_sizes[] = {3, 1, 4, 2};
constexpr std::int64_t line_sizes[] = {320, 224, 256, 512, 640, 128, 100, 64};
constexpr std::int64_t pixel_sizes[] = {224, 320, 256, 512, 640, 1024, 128, 64, 32, 96, 28};
constexpr std::int64_t sample_sizes[] = {16000, 512, 8000, 32000, 48000, 1024, 1536, 160000};
constexpr std::int64_t token_sizes[] = {16, 32, 8, 64, 128, 256, 512, 1};
constexpr std::int64_t frame_sizes[] = {128, 64, 100, 256, 96, 32, 16, 300, 512, 3000};
constexpr std::int64_t only_one[] = {1};

constexpr SizeRole roles[] = {
    {"past", &is_past, past_sizes},
    {"batch", &is_batch, batch_sizes},
    {"channels", &is_channels, channel_sizes},
    {"line width", &is_line_width, line_sizes},
    {"pixels", &is_pixels, pixel_sizes},
    {"samples", &is_sound, sample_sizes},
    {"tokens", &is_tokens, token_sizes},
    {"frames", &is_frames, frame_sizes},
    {"any", [](const OpenSize&) { return true; }, only_one},
};

constexpr std::int64_t rare_sizes[] = {
    1,   2,   3,   4,    5,    6,    8,    10,   12,   16,   24,   32,    40,    48,
    64,  80,  96,  100,  112,  120,  128,  144,  160,  192,  200,  224,   240,   256,
    288, 299, 320, 384,  400,  416,  448,  480,  512,  576,  600,  608,   640,   672,
    736, 768, 800, 1024, 1280, 1536, 1600, 2048, 4000, 4096, 8000, 16000, 32000, 48000};

}  // namespace

const SizeRole& role_of(const OpenSize& open) {
  return *std::ranges::find_if(roles, [&](const SizeRole& role) { return role.applies(open); });
}

std::span<const std::int64_t> other_sizes() { return rare_sizes; }

}  // namespace driftscope
