// The prompts of a language model as options name them: tokens, texts, files, samples of a data set. Client:
// the command generate.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "native/host/model_file.hpp"
#include "native/text/tokenizer.hpp"

namespace driftscope {

struct PromptOptions {
  std::vector<std::string> tokens;  ///< "12,7,99" or FILE.npy
  std::vector<std::string> texts;
  std::string lines;      ///< a file with a text a line
  std::string dataset;    ///< a spec of core/dataset, of texts
  std::string tokenizer;  ///< a file; empty: the one that belongs to the model
  std::int64_t samples = 8;
  std::int64_t most_tokens = 0;  ///< of a sample of the data set; 0: all
};

/// The options --prompt, --prompt-text, --prompt-file, --dataset, --samples, --prompt-tokens, --tokenizer.
/// `options` must outlive the app.
void add_prompt_options(CLI::App& app, PromptOptions& options);

struct GivenPrompts {
  std::vector<std::vector<std::int64_t>> tokens;  ///< none is empty
  std::optional<Tokenizer> tokenizer;             ///< nothing: the model has none, and none was needed
  std::string tokenizer_file;                     ///< its name, without folders
};

/// All prompts in the order of the options above. Samples of a data set lie evenly over it. Errors: what
/// cannot be read or has no tokens; texts without a tokenizer; no prompt at all.
[[nodiscard]] Result<GivenPrompts> read_prompts(const PromptOptions& options, const ModelFile& model);

}  // namespace driftscope
