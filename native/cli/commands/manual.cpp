#include "native/cli/manual.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <sstream>

namespace driftscope {
namespace {

/// Without those that have no group: the help does not list them either.
std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

/// For running text: what roff reads as its own is escaped.
std::string roff(const std::string& text) {
  std::string made;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) made += "\\&";
    if (c == '\\')
      made += "\\e";
    else if (c == '-')
      made += "\\-";
    else
      made += c;
    line_begins = c == '\n';
  }
  return made;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// "N", "TEXT": what follows the option; empty for flags.
std::string value_name(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return {};
  std::string text = option.get_option_text();
  if (text.empty()) text = option.get_type_name();
  text = text.substr(0, text.find(':'));  // what values are allowed is not its name
  return text.empty() ? "VALUE" : text;
}

std::vector<const CLI::Option*> named_options(const CLI::App& app) {
  std::vector<const CLI::Option*> options;
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional() == false) options.push_back(option);
  return options;
}

std::string option_names(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option.get_snames()) names += (names.empty() ? "-" : ", -") + name;
  for (const std::string& name : option.get_lnames()) names += (names.empty() ? "--" : ", --") + name;
  return names;
}

std::string synopsis(const CLI::App& app, const std::string& name) {
  std::string command = name;
  std::ranges::replace(command, '-', ' ');
  std::string text = "\\fB" + roff(command) + "\\fR";
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    const std::string many = option->get_items_expected_max() > 1 ? "…" : "";
    const std::string one = "\\fI" + roff(option->get_name(true)) + "\\fR" + many;
    text += option->get_required() ? " " + one : " [" + one + "]";
  }
  if (!commands_of(app).empty()) text += " \\fICOMMAND\\fR";
  return text + " [\\fIOPTION\\fR]…";
}

/// The words of an option that takes one of a few, from "{a,b}" in its description of values.
std::vector<std::string> words_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{');
  const std::size_t end = type.find('}');
  std::vector<std::string> words;
  if (begin == std::string::npos || end == std::string::npos || end < begin) return words;
  std::istringstream list(type.substr(begin + 1, end - begin - 1));
  for (std::string word; std::getline(list, word, ',');) words.push_back(word);
  return words;
}

std::string first_sentence(const std::string& text) {
  const std::size_t end = text.find_first_of("\n;");
  std::string one = text.substr(0, std::min({end, text.find(". "), text.find(" (")}));
  if (!one.empty() && one.back() == '.') one.pop_back();
  return one;
}

/// Inside single quotes of a shell.
std::string in_single_quotes(const std::string& text) {
  std::string made;
  for (const char c : text) made += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return made;
}

std::vector<std::string> long_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : named_options(app))
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

}  // namespace

std::string manual_page(const CLI::App& app, const std::string& name) {
  const std::string summary = app.get_description();
  std::string page =
      fmt::format(".TH {} 1 \"\" \"Driftscope {}\" \"User Commands\"\n", upper(name), DRIFTSCOPE_VERSION);
  page += fmt::format(".SH NAME\n{} \\- {}\n", roff(name), roff(first_sentence(summary)));
  page += fmt::format(".SH SYNOPSIS\n{}\n.SH DESCRIPTION\n{}\n", synopsis(app, name), roff(summary));
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional())
      page +=
          fmt::format(".TP\n\\fI{}\\fR\n{}\n", roff(option->get_name(true)), roff(option->get_description()));
  if (const auto commands = commands_of(app); !commands.empty()) {
    page += ".SH COMMANDS\n";
    for (const CLI::App* command : commands)
      page += fmt::format(".TP\n\\fB{0}\\fR\n{1}\nSee \\fB{2}\\-{0}\\fR(1).\n", roff(command->get_name()),
                          roff(command->get_description()), roff(name));
  }
  page += ".SH OPTIONS\n";
  for (const CLI::Option* option : named_options(app)) {
    const std::string value = value_name(*option);
    page += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(option_names(*option)),
                        value.empty() ? "" : " \\fI" + roff(value) + "\\fR", roff(option->get_description()));
    if (const std::string usual = option->get_default_str(); !usual.empty())
      page += fmt::format("Default: {}\n", roff(usual));
  }
  if (const std::string footer = app.get_footer(); !footer.empty())
    page += fmt::format(".SH NOTES\n.nf\n{}\n.fi\n", roff(footer));
  return page;
}

std::string bash_completion(const CLI::App& app) {
  std::string commands;
  std::string cases;
  std::string values;
  for (const CLI::App* command : commands_of(app)) {
    commands += (commands.empty() ? "" : " ") + command->get_name();
    cases +=
        fmt::format("    {}) options='{}' ;;\n", command->get_name(), fmt::join(long_names(*command), " "));
    for (const CLI::Option* option : named_options(*command))
      if (const auto words = words_of(*option); !words.empty())
        values += fmt::format("    {}:--{}) COMPREPLY=($(compgen -W '{}' -- \"$word\")) && return ;;\n",
                              command->get_name(), option->get_lnames().front(), fmt::join(words, " "));
  }
  return fmt::format(
      "# bash completion for driftscope\n"
      "_driftscope() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} "
      "command=${{COMP_WORDS[1]}} options=\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W '{} --help --version' -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case $command:$before in\n{}  esac\n"
      "  case $command in\n{}  esac\n"
      "  [[ $word == -* ]] && COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
      "}}\n"
      "complete -o default -F _driftscope driftscope\n",
      commands, values, cases);
}

std::string zsh_completion(const CLI::App& app) {
  std::string list;
  std::string cases;
  for (const CLI::App* command : commands_of(app)) {
    list += fmt::format("    '{}:{}'\n", command->get_name(),
                        in_single_quotes(first_sentence(command->get_description())));
    cases += fmt::format("    {}) _arguments", command->get_name());
    for (const CLI::Option* option : named_options(*command)) {
      const auto words = words_of(*option);
      std::string text = first_sentence(option->get_description());
      std::erase_if(text, [](char c) { return c == '[' || c == ']' || c == ':'; });
      for (const std::string& name : option->get_lnames())
        cases += fmt::format(" \\\n      '--{}[{}]{}'", name, in_single_quotes(text),
                             value_name(*option).empty() ? ""
                             : words.empty()             ? ":value:_files"
                                                         : fmt::format(":value:({})", fmt::join(words, " ")));
    }
    cases += " \\\n      '*:file:_files' ;;\n";
  }
  return fmt::format(
      "#compdef driftscope\n"
      "local -a commands=(\n{}  )\n"
      "if ((CURRENT == 2)); then\n  _describe command commands\n  return\nfi\n"
      "local command=$words[2]\nshift words\n((CURRENT--))\n"
      "case $command in\n{}esac\n",
      list, cases);
}

std::string fish_completion(const CLI::App& app) {
  std::string text = "# fish completion for driftscope\n";
  for (const CLI::App* command : commands_of(app)) {
    text += fmt::format("complete -c driftscope -n __fish_use_subcommand -f -a {} -d '{}'\n",
                        command->get_name(), in_single_quotes(first_sentence(command->get_description())));
    for (const CLI::Option* option : named_options(*command)) {
      const auto words = words_of(*option);
      for (const std::string& name : option->get_lnames())
        text += fmt::format("complete -c driftscope -n '__fish_seen_subcommand_from {}' -l {}{}{} -d '{}'\n",
                            command->get_name(), name, value_name(*option).empty() ? "" : " -r",
                            words.empty() ? "" : fmt::format(" -f -a '{}'", fmt::join(words, " ")),
                            in_single_quotes(first_sentence(option->get_description())));
    }
  }
  return text;
}

}  // namespace driftscope
