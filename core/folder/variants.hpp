// Which files of a model's folder are the same model in other element types, by the names that model hubs
// use: model.onnx, model_fp16.onnx, decoder_model_merged_q4f16.onnx. A pure function of names.
// Client: native/cli/folder_run.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace driftscope {

struct VariantFile {
  std::string path;   ///< inside the folder, with '/'
  std::string dtype;  ///< "fp32", "q4f16", "qint8_avx512"
  std::string name;   ///< the dtype, or the path where several files of the part have that dtype
  int bits = 32;      ///< of most weights
};

/// A model of its own: an encoder and a decoder are two.
struct ListedPart {
  std::string name;                   ///< "model", "decoder_model_merged", "unet"
  std::vector<VariantFile> variants;  ///< the widest first; of equals the plain one, that in onnx/ first
};

struct FolderListing {
  std::vector<ListedPart> parts;            ///< by name
  std::vector<std::string> not_recognised;  ///< .onnx files that are none of them
};

/// `paths`: all files of the folder and of those directly inside it. Files that are not .onnx are ignored.
/// A name without a suffix is a part if hubs use it, if another file has it with a suffix, or if there is no
/// other model.
[[nodiscard]] FolderListing recognise_variants(std::span<const std::string> paths);

}  // namespace driftscope
