#include "native/host/attack_pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/draw/picture_png.hpp"
#include "native/host/sample_files.hpp"
#include "native/os/files.hpp"
#include "native/os/folders.hpp"

namespace driftscope {
namespace {

std::string kept_name(std::string name) {
  std::ranges::replace_if(name, [](char c) { return c == '/' || c == ':' || c == '\\'; }, '-');
  return name;
}

Picture picture_of(const Preprocess& how, std::span<const float> data) {
  Picture picture{how.channels, how.height, how.width, {}};
  const auto plane = static_cast<std::size_t>(how.height * how.width);
  const auto channels = static_cast<std::size_t>(how.channels);
  picture.pixels.resize(plane * channels);
  for (std::size_t pixel = 0; pixel < plane; ++pixel)
    for (std::size_t c = 0; c < channels; ++c) {
      const std::size_t at = how.layout == Layout::nchw ? c * plane + pixel : pixel * channels + c;
      const std::size_t channel = how.order == ChannelOrder::bgr ? channels - 1 - c : c;
      picture.pixels[pixel * channels + channel] =
          static_cast<std::uint8_t>(std::lround(std::clamp(data[at], 0.0f, 1.0f) * 255.0f));
    }
  return picture;
}

Status keep_pictures_of(const std::filesystem::path& folder, const AttackPlan& plan, const Preprocess& how,
                        const AttackReport& report, const auto& value_of) {
  const std::vector<std::string> names = class_names(*plan.model);
  for (std::size_t i = 0; i < report.samples.size(); ++i) {
    const auto label = static_cast<std::size_t>(report.labels[i]);
    const auto of_class =
        folder / (label < names.size() ? kept_name(names[label]) : fmt::format("{}", label));
    DRIFTSCOPE_CHECK(make_folders(of_class));
    DRIFTSCOPE_CHECK(write_file(of_class / fmt::format("{:06}.png", report.samples[i]),
                                png_file(picture_of(how, value_of(i)))));
  }
  return {};
}

}  // namespace

Status keep_pictures(const std::filesystem::path& folder, const AttackPlan& plan,
                     const AttackReport& report) {
  DRIFTSCOPE_TRY(const InputSite::Samples described, input_site(*plan.model).samples());
  const auto* const how = std::get_if<Preprocess>(&described.how);
  if (how == nullptr || (how->channels != 1 && how->channels != 3))
    return unsupported("8-bit pictures: the input's description has neither 1 nor 3 channels");
  DRIFTSCOPE_CHECK(
      keep_pictures_of(folder / "originals", plan, *how, report,
                       [&](std::size_t i) -> const std::vector<float>& { return report.originals[i]; }));
  for (const AttackedTarget& target : report.targets)
    DRIFTSCOPE_CHECK(keep_pictures_of(
        folder / kept_name(target.target), plan, *how, report,
        [&](std::size_t i) -> const std::vector<float>& { return target.outcomes[i].values; }));
  return {};
}

}  // namespace driftscope
