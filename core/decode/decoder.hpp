// How a language model decodes: which inputs take tokens, masks, positions and caches, and where the logits
// and the grown caches come out. Clients: generation_run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/graph/graph.hpp"
#include "core/runtime/bind_inputs.hpp"

namespace driftscope {

/// A cache of keys or values: an input, [batch, …, sequence, …], and the output that holds it grown.
struct DecoderCache {
  std::string past;
  std::string present;
  std::size_t value = 0;  ///< the input's place among the graph's inputs
  int axis = 2;           ///< the one that grows
  Shape empty = {};       ///< with batch 1 and a sequence of 0
};

/// An input of one batch whose role its name says; empty: the model does not have it.
struct Decoder {
  std::string tokens;          ///< [batch, sequence], integers
  std::string attention_mask;  ///< [batch, past + sequence], ones
  std::string position_ids;    ///< [batch, sequence]
  std::string use_cache;       ///< a flag: whether the caches hold anything
  std::string logits;          ///< [batch, sequence or 1, vocabulary]
  std::vector<DecoderCache> caches;
  /// Inputs that decoding does not make: an encoder's answer, say. The user gives them.
  std::vector<std::string> others;
  /// Where a Gather of the tokens' embedding says so.
  std::optional<std::int64_t> vocabulary;
};

/// Errors say what a decoder needs and what the model has instead: no integer input of rank 2, caches without
/// a grown output or of fixed length, no logits.
[[nodiscard]] Result<Decoder> recognise_decoder(const Graph& graph);

/// What the model has seen.
struct DecoderState {
  std::vector<std::int64_t> tokens;  ///< all so far
  std::size_t seen = 0;              ///< of them, those that are in the caches
  std::vector<Tensor> caches = {};   ///< in the order of Decoder::caches; empty: nothing was seen
};

/// The inputs of the next run: all tokens that were not seen, or without caches all tokens. `others`: as
/// given by the user.
[[nodiscard]] Result<NamedInputs> step_inputs(const Decoder& decoder, const Graph& graph,
                                              const DecoderState& state, const NamedInputs& others);

/// Takes the grown caches from the outputs of a run with step_inputs(state). Errors: an output is missing, or
/// a cache is not longer by as many as tokens were given.
[[nodiscard]] Status take_caches(const Decoder& decoder, const std::vector<NamedTensor>& outputs,
                                 DecoderState& state);

}  // namespace driftscope
