#include <doctest/doctest.h>

#include "core/folder/variants.hpp"

namespace driftscope::test::variants_test {
namespace {

/// "model: fp32 q8; other: a/b.onnx"
std::string recognised(const std::vector<std::string>& paths) {
  const FolderListing listing = recognise_variants(paths);
  std::string text;
  for (const ListedPart& part : listing.parts) {
    text += (text.empty() ? "" : "; ") + part.name + ":";
    for (const VariantFile& one : part.variants) text += " " + one.name;
  }
  for (const std::string& one : listing.not_recognised) text += " ?" + one;
  return text;
}

}  // namespace

TEST_CASE("Variants_TransformersJsLayout_WidestFirst") {
  CHECK(recognised({"config.json", "tokenizer.json", "onnx/model.onnx_data", "onnx/model_q4.onnx",
                    "onnx/model_quantized.onnx", "onnx/model_q4f16.onnx", "onnx/model_fp16.onnx",
                    "onnx/model_int8.onnx", "onnx/model_uint8.onnx", "onnx/model_bnb4.onnx",
                    "onnx/model.onnx"}) == "model: fp32 fp16 q8 int8 uint8 q4 q4f16 bnb4");
}

TEST_CASE("Variants_SeveralParts_AreApart") {
  CHECK(
      recognised({"onnx/encoder_model.onnx", "onnx/encoder_model_fp16.onnx", "onnx/decoder_model_merged.onnx",
                  "onnx/decoder_model_merged_q4.onnx", "onnx/decoder_model.onnx"}) ==
      "decoder_model: fp32; decoder_model_merged: fp32 q4; encoder_model: fp32 fp16");
  CHECK(recognised({"unet/model.onnx", "vae_decoder/model.onnx", "vae_decoder/model_fp16.onnx"}) ==
        "unet: fp32; vae_decoder: fp32 fp16");
}

TEST_CASE("Variants_OtherNames") {
  // Any name is a part once it has a variant; others are listed.
  CHECK(recognised({"lenet5.onnx", "lenet5-INT8.onnx", "gru-opset11.onnx"}) ==
        "lenet5: fp32 int8 ?gru-opset11.onnx");
  CHECK(recognised({"net.onnx", "notes.txt"}) == "net: fp32");
  CHECK(recognised({"a.onnx", "b.onnx"}) == " ?a.onnx ?b.onnx");
  CHECK(recognised({}).empty());
  CHECK(recognised({".onnx", "quantized.onnx"}) == "quantized: fp32");
  CHECK(recognised({"model.onnx", "model_qint8_avx512_vnni.onnx", "model_O3.onnx", "model_O4.onnx"}) ==
        "model: fp32 O3 O4 qint8_avx512_vnni");
}

TEST_CASE("Variants_TwoFilesOfADtype_AreNamedByPath_ThatOfOnnxFirst") {
  CHECK(recognised({"model.onnx", "onnx/model.onnx", "model_q8.onnx", "model_quantized.onnx"}) ==
        "model: onnx/model.onnx model.onnx model_q8.onnx model_quantized.onnx");
}

TEST_CASE("Variants_WithoutFloat32_TheWidestIsFirst") {
  CHECK(recognised({"model_q4.onnx", "model_fp16.onnx", "model_int8.onnx"}) == "model: fp16 int8 q4");
}

}  // namespace driftscope::test::variants_test
