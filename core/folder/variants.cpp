#include "core/folder/variants.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>

namespace driftscope {
namespace {

struct Suffix {
  std::string_view text;
  std::string_view dtype;
  int bits;
};

// The first one of a width is the plain one.
constexpr auto suffixes = std::to_array<Suffix>({
    {"fp32", "fp32", 32},  {"float32", "fp32", 32}, {"optimized", "optimized", 32},
    {"o1", "O1", 32},      {"o2", "O2", 32},        {"o3", "O3", 32},
    {"fp16", "fp16", 16},  {"float16", "fp16", 16}, {"bf16", "bf16", 16},
    {"o4", "O4", 16},      {"q8", "q8", 8},         {"quantized", "q8", 8},
    {"int8", "int8", 8},   {"uint8", "uint8", 8},   {"q4", "q4", 4},
    {"q4f16", "q4f16", 4}, {"int4", "int4", 4},     {"uint4", "uint4", 4},
    {"bnb4", "bnb4", 4},   {"q2", "q2", 2},         {"q2f16", "q2f16", 2},
    {"q1", "q1", 1},       {"q1f16", "q1f16", 1},
});

// Of hubs: a part with one of these names needs no second file.
constexpr auto known_parts = std::to_array<std::string_view>({
    "model",
    "encoder_model",
    "decoder_model",
    "decoder_model_merged",
    "decoder_with_past_model",
    "encoder",
    "decoder",
    "vision_encoder",
    "text_encoder",
    "audio_encoder",
    "speech_encoder",
    "text_model",
    "vision_model",
    "audio_model",
    "embed_tokens",
    "embed_images",
    "lm_head",
    "prompt_encoder_mask_decoder",
});

constexpr std::string_view extension = ".onnx";

std::string lower(std::string_view text) {
  std::string made(text);
  std::ranges::transform(made, made.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return made;
}

bool separates(char c) { return c == '_' || c == '-' || c == '.'; }

struct Named {
  VariantFile file;
  std::string part;
  bool plain = true;  // no suffix
  std::size_t rank = 0;
};

std::string part_name(std::string_view folder, std::string_view stem) {
  if (folder.empty() || folder == "onnx") return std::string(stem);
  return stem == "model" ? std::string(folder) : std::string(folder) + "/" + std::string(stem);
}

Named named(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view folder =
      slash == std::string::npos ? std::string_view() : std::string_view(path).substr(0, slash);
  std::string_view stem = std::string_view(path).substr(slash == std::string::npos ? 0 : slash + 1);
  stem.remove_suffix(extension.size());
  Named made{.file = {path, "fp32", "", 32}, .part = part_name(folder, stem)};
  const std::string small = lower(stem);
  std::size_t longest = 0;
  for (std::size_t i = 0; i < suffixes.size(); ++i) {
    const Suffix& suffix = suffixes[i];
    if (suffix.text.size() <= longest || small.size() < suffix.text.size() + 2 ||
        !small.ends_with(suffix.text) || !separates(small[small.size() - suffix.text.size() - 1]))
      continue;
    longest = suffix.text.size();
    made.file.dtype = suffix.dtype;
    made.file.bits = suffix.bits;
    made.part = part_name(folder, stem.substr(0, stem.size() - longest - 1));
    made.plain = false;
    made.rank = i;
  }
  // For one kind of processor: model_qint8_avx512_vnni.
  for (const std::string_view kind : {"qint8_", "quint8_"})
    if (const std::size_t at = small.find(kind);
        at != std::string::npos && at > 1 && separates(small[at - 1])) {
      made.file.dtype = small.substr(at);
      made.file.bits = 8;
      made.part = part_name(folder, stem.substr(0, at - 1));
      made.plain = false;
      made.rank = suffixes.size();
      break;
    }
  return made;
}

bool is_known(std::string_view part) {
  const std::string_view last = part.substr(part.rfind('/') + 1);  // npos + 1 is 0
  return std::ranges::find(known_parts, last) != known_parts.end();
}

}  // namespace

FolderListing recognise_variants(std::span<const std::string> paths) {
  std::vector<Named> all;
  for (const std::string& path : paths) {
    const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
    if (name.size() > extension.size() && lower(name).ends_with(extension)) all.push_back(named(path));
  }
  std::ranges::sort(all, {}, [](const Named& one) {
    return std::tuple(-one.file.bits, one.rank, !one.plain, !one.file.path.starts_with("onnx/"),
                      one.file.path);
  });
  std::map<std::string, std::vector<const Named*>> parts;
  for (const Named& one : all) parts[one.part].push_back(&one);
  FolderListing listing;
  for (const auto& [name, files] : parts) {
    // unet/model.onnx is the part unet, whatever the folder's name.
    const bool whole_folder = files.front()->file.path.ends_with("/model.onnx");
    if (files.size() == 1 && files.front()->plain && all.size() > 1 && !is_known(name) && !whole_folder) {
      listing.not_recognised.push_back(files.front()->file.path);
      continue;
    }
    ListedPart part{name, {}};
    for (const Named* one : files) part.variants.push_back(one->file);
    for (VariantFile& one : part.variants)
      one.name = std::ranges::count(part.variants, one.dtype, &VariantFile::dtype) > 1 ? one.path : one.dtype;
    listing.parts.push_back(std::move(part));
  }
  return listing;
}

}  // namespace driftscope
