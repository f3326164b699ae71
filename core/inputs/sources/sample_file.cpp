// A picture, a text or a sound in a file of its own, through the model's preprocessing description.
#include <fmt/format.h>

#include "core/inputs/input_source.hpp"
#include "core/inputs/sound.hpp"

namespace driftscope::input_sources::sample_file {
namespace {

std::string_view kind_of(std::string_view path) {
  return is_picture_name(path) ? "pictures" : is_sound_name(path) ? "sounds" : "texts";
}

Result<Tensor> read_sample(const InputSite::Samples& samples, std::span<const std::byte> bytes) {
  if (const auto* picture = std::get_if<Preprocess>(&samples.how)) return read_picture(*picture, bytes);
  if (const auto* sound = std::get_if<AudioPreprocess>(&samples.how)) return read_sound(*sound, bytes);
  const auto& text = std::get<TextPreprocess>(samples.how);
  DRIFTSCOPE_TRY(const Vocabulary vocabulary, read_vocabulary(text, samples.files.read));
  return encode(text, vocabulary, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Result<std::unique_ptr<InputSource>> open(const std::string& path, const InputSite& site) {
  DRIFTSCOPE_TRY(const InputSite::Samples samples, site.samples());
  const std::string_view kind = kind_of(path), described = described_samples(samples.how);
  if (kind != described)
    return bad_input(fmt::format("{}: a {}, but {} describes {}", path, kind.substr(0, kind.size() - 1),
                                 samples.described_by, described));
  DRIFTSCOPE_TRY(const std::vector<std::byte> bytes, site.files.read(path));
  auto tensor = read_sample(samples, bytes);
  if (!tensor.ok()) return in_context(std::move(tensor).error(), path);
  const std::string input = std::visit([](const auto& one) { return one.input; }, samples.how);
  return single_item({{{input, *std::move(tensor)}}, path, ""});
}

}  // namespace

void add_to(InputSourceTable& table) {
  table.add({.order = 40,
             .form = ".png, .jpg, .wav, .txt",
             .accepts =
                 [](const std::string& path, const InputSite&) {
                   return is_picture_name(path) || is_sound_name(path) || path.ends_with(".txt");
                 },
             .open = open});
}

}  // namespace driftscope::input_sources::sample_file
