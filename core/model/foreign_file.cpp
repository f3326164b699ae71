// Compiled for size on the web (cmake/core.cmake).
#include "core/model/foreign_file.hpp"

#include <algorithm>

namespace driftscope {
namespace {

using namespace std::string_view_literals;

struct FileKind {
  std::size_t offset;
  std::string_view mark;
  const char* text;
};

constexpr FileKind kinds[] = {
    {0, "version https://git-lfs"sv, "a Git LFS pointer; fetch the file itself with `git lfs pull`"},
    {0, "PK\x03\x04"sv,
     "a ZIP archive, as PyTorch's .pt and .pth and Keras's .keras are; export it to ONNX first"},
    {0, "\x1f\x8b"sv, "a gzip archive; unpack it first"},
    {0, "\x89HDF\r\n"sv, "an HDF5 file, as Keras writes them; convert it with tf2onnx"},
    {4, "TFL3"sv, "a TensorFlow Lite model; convert it with tf2onnx"},
    {4, "ORTM"sv, "a model in ONNX Runtime's own format (.ort); take the .onnx file that it was made from"},
    {0, "GGUF"sv, "a GGUF model; driftscope reads ONNX"},
    {0, "\x80\x02"sv, "a Python pickle, as old PyTorch files are; export the model with torch.onnx.export"},
    {0, "\x93NUMPY"sv, "a NumPy array; it can be an --input"},
    {8, "{\""sv, "a safetensors file: weights or a trace, without a graph"},
    {0, "<!DOCTYPE"sv, "an HTML page: the download returned a page instead of the file"},
    {0, "<!doctype"sv, "an HTML page: the download returned a page instead of the file"},
    {0, "<html"sv, "an HTML page: the download returned a page instead of the file"},
    {0, "{"sv, "JSON"},
};

bool is_text(std::string_view bytes) {
  return !bytes.empty() && std::all_of(bytes.begin(), bytes.end(), [](char c) {
    return (c >= ' ' && c < '\x7f') || c == '\n' || c == '\r' || c == '\t';
  });
}

}  // namespace

std::string foreign_file(std::string_view begin) {
  begin = begin.substr(0, foreign_file_bytes);
  for (const FileKind& kind : kinds)
    if (begin.size() >= kind.offset && begin.substr(kind.offset).starts_with(kind.mark)) return kind.text;
  return is_text(begin) ? "a text file" : "";
}

}  // namespace driftscope
