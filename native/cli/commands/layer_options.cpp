#include "native/cli/commands/layer_options.hpp"

#include <fmt/format.h>

#include <charconv>

namespace driftscope {
namespace {

constexpr std::size_t max_layers = 1'000'000;

/// "" when the text was understood, else what is wrong with it.
std::string read_choice(const std::string& text, LayerChoice& choice) {
  choice.all = text == "all";
  if (choice.all) return {};
  std::size_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 1 || count > max_layers)
    return fmt::format("expected 'all' or how many, 1 to {}, got '{}'", max_layers, text);
  choice.limit = count;
  return {};
}

}  // namespace

void add_layer_option(CLI::App& app, LayerChoice& choice) {
  app.add_option_function<std::string>(
         "--layers",
         [&choice](const std::string& text) {
           if (const std::string wrong = read_choice(text, choice); !wrong.empty())
             throw CLI::ValidationError("--layers", wrong);
         },
         "How many of the worst and of the slowest layers are printed (default: 10; a model of at most twice "
         "as many is printed in full), or 'all' of them, constants as well")
      ->option_text("N|all");
}

}  // namespace driftscope
