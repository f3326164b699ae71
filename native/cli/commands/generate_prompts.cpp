#include "native/cli/commands/generate_prompts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>

#include "core/base/text.hpp"
#include "core/dataset/dataset_format.hpp"
#include "core/dataset/npy.hpp"
#include "native/cli/console.hpp"
#include "native/host/sample_files.hpp"
#include "native/host/text_lines.hpp"
#include "native/host/tokenizer_file.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

using Tokens = std::vector<std::int64_t>;

/// "12,7,99".
Result<Tokens> listed_tokens(const std::string& text) {
  Tokens tokens;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at <= end) {
    std::int64_t token = 0;
    const auto [next, error] = std::from_chars(at, end, token);
    if (error != std::errc() || (next != end && *next != ','))
      return bad_input(fmt::format(
          "--prompt {}: expected numbers of tokens with commas between them (12,7,99), or a file .npy",
          in_quotes(text)));
    tokens.push_back(token);
    if (next == end) break;
    at = next + 1;
  }
  return tokens;
}

/// All elements of an integer tensor.
Tokens integers_of(const Tensor& tensor) {
  if (tensor.dtype() == DType::int64) {
    const auto values = tensor.values<std::int64_t>();
    return {values.begin(), values.end()};
  }
  const auto values = tensor.values<std::int32_t>();
  return {values.begin(), values.end()};
}

bool are_tokens(const Tensor& tensor) {
  return tensor.dtype() == DType::int64 || tensor.dtype() == DType::int32;
}

/// The rows of [prompts, tokens], or the only one of [tokens].
Result<std::vector<Tokens>> file_tokens(const std::string& path) {
  DRIFTSCOPE_TRY(const auto bytes, read_file(path));
  auto read = read_npy(bytes);
  if (!read.ok()) return in_context(std::move(read).error(), path);
  const Tensor& tensor = *read;
  if (!are_tokens(tensor) || tensor.rank() < 1 || tensor.rank() > 2)
    return bad_input(fmt::format("{}: {} {}; expected int64 or int32, [tokens] or [prompts, tokens]", path,
                                 dtype_name(tensor.dtype()), shape_text(tensor.shape())));
  if (tensor.elements() == 0) return bad_input(fmt::format("{}: it holds no token", path));
  const Tokens all = integers_of(tensor);
  const auto width = static_cast<std::ptrdiff_t>(tensor.shape().back());
  std::vector<Tokens> prompts;
  for (auto row = all.begin(); row != all.end(); row += width) prompts.emplace_back(row, row + width);
  return prompts;
}

/// A text a line; lines without text are none.
Result<std::vector<std::string>> prompt_lines(const std::string& path) {
  DRIFTSCOPE_TRY(auto lines, text_lines(path));
  std::erase_if(lines, [](const std::string& line) { return line.empty(); });
  if (lines.empty()) return bad_input(fmt::format("{}: expected a text a line, found none", path));
  return lines;
}

Result<Tokens> encoded(const Tokenizer& tokenizer, const std::string& text) {
  auto tokens = tokenizer.encode(text);
  if (!tokens.ok()) return in_context(std::move(tokens).error(), fmt::format("prompt {}", in_quotes(text)));
  if (tokens->empty()) return bad_input(fmt::format("prompt {}: it has no tokens", in_quotes(text)));
  return *std::move(tokens);
}

Status read_tokens(const PromptOptions& options, GivenPrompts& given) {
  for (const std::string& prompt : options.tokens) {
    if (!prompt.ends_with(".npy")) {
      DRIFTSCOPE_TRY(auto tokens, listed_tokens(prompt));
      given.tokens.push_back(std::move(tokens));
      continue;
    }
    DRIFTSCOPE_TRY(auto prompts, file_tokens(prompt));
    std::ranges::move(prompts, std::back_inserter(given.tokens));
  }
  return {};
}

Status read_texts(const PromptOptions& options, const std::string& model, GivenPrompts& given) {
  std::vector<std::string> texts = options.texts;
  if (!options.lines.empty()) {
    DRIFTSCOPE_TRY(auto lines, prompt_lines(options.lines));
    std::ranges::move(lines, std::back_inserter(texts));
  }
  if (!texts.empty() && !given.tokenizer)
    return bad_input(
        fmt::format("{}: a text needs a tokenizer.json beside the model or above its folder onnx/, "
                    "and there is none; name one with --tokenizer FILE, or give --prompt 12,7,99",
                    model));
  for (const std::string& text : texts) {
    DRIFTSCOPE_TRY(auto tokens, encoded(*given.tokenizer, text));
    given.tokens.push_back(std::move(tokens));
  }
  return {};
}

/// Without a tokenizer the model's description makes tokens of a text, and fills up to its length.
Result<Tokens> described_tokens(const Dataset& data, const TextPreprocess& how, std::int64_t sample) {
  DRIFTSCOPE_TRY(const NamedTensor encoded, data.sample(sample));
  Tokens tokens = integers_of(encoded.tensor);
  const auto is_pad = [&](std::int64_t token) { return token == how.pad; };
  if (how.pad_side == Side::left)
    tokens.erase(tokens.begin(), std::ranges::find_if_not(tokens, is_pad));
  else
    while (!tokens.empty() && is_pad(tokens.back())) tokens.pop_back();
  return tokens;
}

class TextSamples {
 public:
  static Result<TextSamples> open(const PromptOptions& options, const ModelFile& model,
                                  const std::optional<Tokenizer>& tokenizer) {
    DRIFTSCOPE_TRY(const DatasetSpec spec, parse_dataset_spec(options.dataset));
    if (const DatasetFormat* format = dataset_format_table().find(spec.format); !format || !format->texts)
      return bad_input(
          fmt::format("--dataset {}: prompts are texts, as those of imdb:DIR", in_quotes(options.dataset)));
    const InputSite site = input_site(model);
    TextPreprocess how;  // without a vocabulary: texts alone
    if (!tokenizer) {
      DRIFTSCOPE_TRY(const InputSite::Samples described, site.samples());
      if (!std::holds_alternative<TextPreprocess>(described.how))
        return bad_input(fmt::format("{}: its description is of {}; prompts are texts", model.path.string(),
                                     described_samples(described.how)));
      how = std::get<TextPreprocess>(described.how);
      DRIFTSCOPE_TRY(Dataset data, Dataset::open(spec, how, described.files));
      return TextSamples(std::move(data), std::move(how), spec.sample);
    }
    DRIFTSCOPE_TRY(Dataset data, Dataset::open(spec, how, site.files));
    return TextSamples(std::move(data), std::move(how), spec.sample);
  }

  /// The one that is named (imdb:DIR#17), or so many that lie evenly over the data set.
  [[nodiscard]] std::vector<std::int64_t> chosen(std::int64_t count) const {
    if (only_) return {*only_};
    const std::int64_t taken = std::min(count, data_.size());
    std::vector<std::int64_t> samples;
    for (std::int64_t i = 0; i < taken; ++i) samples.push_back(i * data_.size() / taken);
    return samples;
  }

  [[nodiscard]] Result<Tokens> tokens(std::int64_t sample, const std::optional<Tokenizer>& tokenizer) const {
    if (!tokenizer) return described_tokens(data_, how_, sample);
    DRIFTSCOPE_TRY(const std::string text, data_.text(sample));
    return encoded(*tokenizer, text);
  }

 private:
  TextSamples(Dataset data, TextPreprocess how, std::optional<std::int64_t> only)
      : data_(std::move(data)), how_(std::move(how)), only_(only) {}

  Dataset data_;
  TextPreprocess how_;
  std::optional<std::int64_t> only_;
};

Status read_samples(const PromptOptions& options, const ModelFile& model, GivenPrompts& given) {
  if (options.dataset.empty()) return {};
  DRIFTSCOPE_TRY(const TextSamples samples, TextSamples::open(options, model, given.tokenizer));
  for (const std::int64_t sample : samples.chosen(options.samples)) {
    DRIFTSCOPE_TRY(Tokens tokens, samples.tokens(sample, given.tokenizer));
    if (tokens.empty()) return bad_input(fmt::format("{}#{}: it has no tokens", options.dataset, sample));
    const auto most = static_cast<std::size_t>(options.most_tokens);
    if (most > 0 && tokens.size() > most) tokens.resize(most);
    given.tokens.push_back(std::move(tokens));
  }
  return {};
}

/// Numbers do without a tokenizer: one that cannot be read is then only said.
Status read_tokenizer(const PromptOptions& options, const ModelFile& model, GivenPrompts& given) {
  std::filesystem::path path = options.tokenizer;
  if (path.empty()) path = tokenizer_of(model.path);
  if (path.empty()) return {};
  auto read = load_tokenizer(path);
  if (read.ok()) {
    given.tokenizer = *std::move(read);
    given.tokenizer_file = path.filename().string();
    return {};
  }
  const bool needed = !options.texts.empty() || !options.lines.empty() || !options.dataset.empty() ||
                      !options.tokenizer.empty();
  if (needed) return std::move(read).error();
  print_error(in_context(std::move(read).error(), "tokens are shown without texts"));
  return {};
}

}  // namespace

Result<GivenPrompts> read_prompts(const PromptOptions& options, const ModelFile& model) {
  GivenPrompts given;
  DRIFTSCOPE_CHECK(read_tokens(options, given));
  DRIFTSCOPE_CHECK(read_tokenizer(options, model, given));
  DRIFTSCOPE_CHECK(read_texts(options, model.path.string(), given));
  DRIFTSCOPE_CHECK(read_samples(options, model, given));
  if (given.tokens.empty())
    return bad_input(
        "no prompt: give --prompt with numbers of tokens, --prompt-text, --prompt-file or --dataset");
  return given;
}

void add_prompt_options(CLI::App& app, PromptOptions& options) {
  app.add_option("--prompt", options.tokens,
                 "Numbers of tokens, 12,7,99, or int64 [tokens] or [prompts, tokens] as .npy; several are "
                 "allowed")
      ->take_all()
      ->type_name("TOKENS");
  app.add_option("--prompt-text", options.texts, "A text, by the model's tokenizer; several are allowed")
      ->take_all()
      ->type_name("TEXT");
  app.add_option("--prompt-file", options.lines, "Texts, one a line")->type_name("FILE");
  auto* const dataset =
      app.add_option(
             "--dataset", options.dataset,
             "Texts of a data set, imdb:DIR, or one of them, imdb:DIR#17; by the model's tokenizer, or "
             "else by the vocabulary of MODEL.preprocess.json")
          ->type_name("DATASET");
  app.add_option("--samples", options.samples, "Texts of the data set, evenly over it")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str()
      ->needs(dataset);
  app.add_option("--prompt-tokens", options.most_tokens, "Only so many tokens of each text of the data set")
      ->check(CLI::Range(1, 1000000))
      ->needs(dataset);
  app.add_option(
         "--tokenizer", options.tokenizer,
         "A tokenizer.json; otherwise the one beside the model or above its folder onnx/, if there is one")
      ->type_name("FILE");
}

}  // namespace driftscope
