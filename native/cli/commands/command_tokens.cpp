// driftscope tokens MODEL|tokenizer.json TEXT… | --file LINES [--plain] [--json OUT]
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/host/text_lines.hpp"
#include "native/host/tokenizer_file.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

struct TokensOptions {
  std::string model, file, json;
  std::vector<std::string> texts;
  bool plain = false;
};

/// A JSON list of texts, or a text a line.
Result<std::vector<std::string>> texts_of(const std::string& path) {
  if (!path.ends_with(".json")) return text_lines(path);
  DRIFTSCOPE_TRY(const auto bytes, read_file(path));
  const nlohmann::json json =
      parse_json(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  std::vector<std::string> texts;
  if (!json.is_array()) return bad_input(fmt::format("{}: expected a JSON list of texts", path));
  for (const auto& text : json) {
    if (!text.is_string())
      return bad_input(
          fmt::format("{}: entry {} is {}; expected a text", path, texts.size(), text.type_name()));
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

Result<Exit> run_tokens(const TokensOptions& options) {
  const std::string path =
      options.model.ends_with(".json") ? options.model : tokenizer_of(options.model).string();
  if (path.empty())
    return bad_input(fmt::format(
        "{}: no tokenizer.json beside it or above its folder onnx/; name the file itself", options.model));
  DRIFTSCOPE_TRY(const Tokenizer tokenizer, load_tokenizer(path));
  std::vector<std::string> texts = options.texts;
  if (!options.file.empty()) {
    DRIFTSCOPE_TRY(auto more, texts_of(options.file));
    std::ranges::move(more, std::back_inserter(texts));
  }
  if (texts.empty()) return bad_input("no text: give one, or --file");
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    auto tokens = tokenizer.encode(texts[i], options.plain);
    if (!tokens.ok()) return in_context(std::move(tokens).error(), fmt::format("text {}", i));
    DRIFTSCOPE_TRY(const std::string back, tokenizer.decode(*tokens));
    if (!options.json.empty()) {
      list.push_back({{"tokens", *tokens}, {"text", back}});
      continue;
    }
    print_out("{}\n", tokens->empty() ? "no tokens" : fmt::format("{}", fmt::join(*tokens, ",")));
    for (const std::int64_t token : *tokens)
      print_out("  {:>7}  {}\n", token, in_quotes(tokenizer.token_text(token).value_or("?")));
  }
  if (!options.json.empty()) DRIFTSCOPE_CHECK(write_json(options.json, json_text(list) + "\n"));
  return Exit::ok;
}

}  // namespace

namespace commands::tokens {

static Command declare(CLI::App& app) {
  auto options = std::make_shared<TokensOptions>();
  app.add_option("model", options->model,
                 "A model with a tokenizer.json beside it or above its folder onnx/, or that file")
      ->required()
      ->type_name("MODEL");
  app.add_option("text", options->texts, "Texts")->type_name("TEXT");
  app.add_option("--file", options->file, "A text a line, or a JSON list of texts")->type_name("FILE");
  app.add_flag("--plain", options->plain, "Without the special tokens that the tokenizer puts around a text");
  app.add_option("--json", options->json,
                 "A list of {tokens, text}, text being what the tokens say ('-': standard output)")
      ->type_name("OUT");
  app.footer(
      "Reads the format of Hugging Face's tokenizers. The numbers are those that generate takes as "
      "--prompt.\n\n"
      "  driftscope tokens decoder/onnx/model.onnx \"Once upon a time\"\n"
      "  driftscope tokens tokenizer.json --file lines.txt --json tokens.json\n\n"
      "Exit code 0: done; 2: wrong use, or a tokenizer that is not supported.");
  return [options] {
    const Result<Exit> exit = run_tokens(*options);
    if (!exit.ok()) return print_error(exit.error()), exit_of(exit.error());
    return *exit;
  };
}

void add_to(CommandTable& table) {
  table.add(
      {.order = 27, .name = "tokens", .summary = "Show which tokens a text becomes.", .declare = declare});
}

}  // namespace commands::tokens

}  // namespace driftscope
