// Changes models as graphs: what libFuzzer does to bytes nearly always leaves no model at all. Clients: the
// fuzzers whose input is an ONNX model.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/rng.hpp"
#include "core/model/model.hpp"

namespace driftscope::fuzz {

/// One to four of: another operator, attribute, wiring, type, shape or weight; a node or an output more or
/// less; a type or shape that the file declares.
void mutate_model(Model& model, Rng& rng);

/// `a` with the nodes of `b`, which may read what `a` computes.
void splice_models(Model& a, const Model& b, Rng& rng);

/// As LLVMFuzzerCustomMutator and LLVMFuzzerCustomCrossOver. Bytes that are not a model are changed as bytes;
/// so are one in eight of those that are.
std::size_t mutate_onnx(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed);
std::size_t splice_onnx(const std::uint8_t* a, std::size_t a_size, const std::uint8_t* b, std::size_t b_size,
                        std::uint8_t* out, std::size_t max_size, unsigned seed);

}  // namespace driftscope::fuzz

/// In a fuzzer whose input is an .onnx file: libFuzzer finds these by their names.
#define DRIFTSCOPE_FUZZ_MODELS                                                                               \
  extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size, \
                                                 unsigned seed) {                                            \
    return driftscope::fuzz::mutate_onnx(data, size, max_size, seed);                                        \
  }                                                                                                          \
  extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* a, std::size_t a_size,                \
                                                   const std::uint8_t* b, std::size_t b_size,                \
                                                   std::uint8_t* out, std::size_t max_size, unsigned seed) { \
    return driftscope::fuzz::splice_onnx(a, a_size, b, b_size, out, max_size, seed);                         \
  }
