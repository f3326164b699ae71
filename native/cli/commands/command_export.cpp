// driftscope export MODEL --tfjs DIR …: the model in the formats of other runtimes.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "core/base/format.hpp"
#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/convert/format.hpp"
#include "core/eval/infer_shapes.hpp"
#include "core/inputs/found_sizes.hpp"
#include "core/inputs/input_sizes.hpp"
#include "core/report/text_table.hpp"
#include "generated/documents/export.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/cli/commands/runner_options.hpp"
#include "native/host/model_file.hpp"
#include "native/os/files.hpp"
#include "native/os/folders.hpp"

namespace driftscope {
namespace {

struct ExportOptions {
  std::string model;
  std::vector<std::string> paths;  ///< by format; empty: not asked for
  std::vector<std::string> sizes;  ///< as with_input_sizes takes them
  bool every_value = false;
  std::string json;
};

// The files of older exports to the same folder, and of those that were interrupted.
Status remove_older(const convert::Format& format, const std::filesystem::path& folder,
                    const convert::ConvertedModel& model) {
  if (format.is_named_by_contents == nullptr) return {};
  std::error_code error;
  std::vector<std::filesystem::path> older;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (format.is_named_by_contents(name) &&
        std::ranges::find(model.files, name, &convert::File::name) == model.files.end())
      older.push_back(entry->path());
  }
  for (std::size_t i = 0; i < older.size() && !error; ++i) std::filesystem::remove(older[i], error);
  if (!error) return {};
  return io_error(
      fmt::format("{}: the new model is complete, but a file of an older one cannot be removed: {}; "
                  "remove what {} does not name",
                  folder.string(), error.message(), model.files[0].name));
}

Status write_model(const convert::Format& format, const std::string& path,
                   const convert::ConvertedModel& model) {
  if (!format.folder) {
    if (model.files.size() != 1)
      return internal_error(fmt::format("{}: {} files instead of one", format.name, model.files.size()));
    return write_file(path, model.files[0].bytes);
  }
  DRIFTSCOPE_CHECK(make_folders(path));
  // The model last: it names the others. Until then an older model has its own files.
  for (std::size_t i = model.files.size(); i-- > 0;)
    DRIFTSCOPE_CHECK(write_file(std::filesystem::path(path) / model.files[i].name, model.files[i].bytes));
  return remove_older(format, path, model);
}

std::string tensor_line(const Graph& graph, ValueId id, const convert::ConvertedModel& model) {
  const Value& value = graph.values[id];
  const auto place = model.values.find(value.name);
  if (place == model.values.end()) return value.name;
  Shape shape = value.static_shape().value_or(Shape());
  std::string line = value.name;
  if (place->second.name != value.name) line += fmt::format(" as {}", place->second.name);
  if (!place->second.order.empty()) {
    Shape ordered;
    for (const std::size_t axis : place->second.order) ordered.push_back(shape[axis]);
    return line + fmt::format(": {} {}, axes in the order {}", dtype_name(place->second.dtype),
                              shape_text(ordered), fmt::join(place->second.order, ","));
  }
  return line + fmt::format(": {} {}", dtype_name(place->second.dtype), shape_text(shape));
}

void print_model(const convert::Format& format, const std::string& path, const Graph& graph,
                 const convert::ConvertedModel& model) {
  print_out("{}: {}\n", format.name, path);
  for (const convert::File& file : model.files)
    if (format.folder)
      print_out("  {} ({})\n", file.name, format_bytes(static_cast<std::int64_t>(file.bytes.size())));
    else
      print_out("  {}\n", format_bytes(static_cast<std::int64_t>(file.bytes.size())));
  for (const ValueId id : graph.inputs) print_out("  input {}\n", tensor_line(graph, id, model));
  for (const ValueId id : graph.outputs) print_out("  output {}\n", tensor_line(graph, id, model));
  for (const auto& [name, text] : model.facts) print_out("  {}: {}\n", name, text);
  for (const auto& [name, why] : model.without) print_out("  without {}: {}\n", name, why);
}

documents::ExportedModel exported(const convert::Format& format, const std::string& path,
                                  const convert::ConvertedModel& model) {
  documents::ExportedModel one;
  one.format = format.option;
  one.path = path;
  for (const convert::File& file : model.files) one.files.push_back({file.name, std::ssize(file.bytes)});
  for (const auto& [name, place] : model.values)
    one.values[name] = {
        place.name, {place.order.begin(), place.order.end()}, std::string(dtype_name(place.dtype))};
  one.without = {model.without.begin(), model.without.end()};
  one.facts = model.facts;
  return one;
}

/// A model that lacked some of its outputs would look whole.
Status check_outputs(const std::string& path, const Graph& graph) {
  for (const ModelNote& note : graph.notes)
    if (note.kind == NoteKind::output_type)
      return unsupported(
          fmt::format("{}: output {} cannot be exported: {}", path, in_quotes(note.value), note.is));
  return {};
}

/// What a file of a fixed size cannot take back: the sizes that nobody gave.
void print_found(const FoundSizes& found) {
  if (found.open.empty()) return;
  std::vector<std::string> sizes;
  for (const FoundSizes::Open& open : found.open)
    sizes.push_back(fmt::format("{}={}", open.symbol.empty() ? open.input : open.symbol, open.size));
  print_out(
      "sizes that the model leaves open: {} (found; others: {})\n", fmt::join(sizes, ", "),
      std::ranges::any_of(found.open, [](const auto& open) { return !open.symbol.empty(); })
          ? fmt::format("--dim {}=…", std::ranges::find_if(
                                          found.open, [](const auto& open) { return !open.symbol.empty(); })
                                          ->symbol)
          : "--input-shape");
}

Status run_export(const ExportOptions& options) {
  const auto& formats = convert_formats().all();
  DRIFTSCOPE_TRY(const GraphFile file, load_graph_file(options.model, 1));
  DRIFTSCOPE_CHECK(check_outputs(options.model, file.graph));
  DRIFTSCOPE_TRY(const Graph sized, with_input_sizes(file.graph, options.sizes));
  DRIFTSCOPE_TRY(const FoundSizes found, find_sizes(sized, options.model));
  // Not found.bound, whose inputs of one number have a value: in the exported model they have none.
  DRIFTSCOPE_TRY(const Graph graph, bind_shapes(sized, found.shapes));
  convert::ConvertOptions how;
  how.names_by_contents = true;
  if (options.every_value)
    for (const Value& value : graph.values)
      if (value.producer != no_node) how.captured.push_back(value.name);
  documents::Export document;
  for (std::size_t i = 0; i < formats.size(); ++i) {
    if (options.paths[i].empty()) continue;
    const auto model = formats[i].convert(graph, how);
    if (!model.ok())
      return in_context(model.error(), fmt::format("{} as {}", options.model, formats[i].name));
    DRIFTSCOPE_CHECK(write_model(formats[i], options.paths[i], *model));
    if (options.json != "-") print_model(formats[i], options.paths[i], graph, *model);
    document.models.push_back(exported(formats[i], options.paths[i], *model));
  }
  if (options.json != "-") print_found(found);
  if (options.json.empty()) return {};
  for (const ValueId id : graph.inputs) document.inputs.push_back(graph.values[id].name);
  for (const ValueId id : graph.outputs) document.outputs.push_back(graph.values[id].name);
  for (const FoundSizes::Open& open : found.open)
    document.sizes.push_back({open.symbol, open.input, open.size});
  return write_json(options.json, json_text(encode(document), 1) + "\n");
}

}  // namespace

namespace commands::export_ {

static Command declare(CLI::App& app) {
  auto options = std::make_shared<ExportOptions>();
  const auto& formats = convert_formats().all();
  options->paths.resize(formats.size());
  app.add_option("model", options->model, "The model, an .onnx file")->required();
  auto* const group = app.add_option_group("formats");
  for (std::size_t i = 0; i < formats.size(); ++i)
    group->add_option(fmt::format("--{}", formats[i].option), options->paths[i], std::string(formats[i].help))
        ->type_name(formats[i].folder ? "DIR" : "FILE");
  group->require_option(1, 0);
  add_size_options(app, options->sizes);
  app.add_flag("--every-value", options->every_value, "Make every value an output, to inspect the layers");
  app.add_option(
         "--json", options->json,
         "Write the mapping of the model's values as JSON: the name of each tensor, the order of its axes "
         "(axis "
         "i there is axis order[i] of the model's; empty: the same) and its type ('-': standard output)")
      ->type_name("OUT");
  app.footer(
      "The graph is rewritten, channels last, with the names of its values kept; an operator that the format "
      "cannot\nexpress is an error that names the node and the reason. Files appear under their names once "
      "they are "
      "complete.\n\n"
      "  driftscope export model.onnx --tfjs web/model");
  return [options] {
    const Status status = run_export(*options);
    if (!status.ok()) return print_error(status.error()), exit_of(status.error());
    return Exit::ok;
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 75,
             .name = "export",
             .summary = "Write the model in the formats of other runtimes.",
             .declare = declare});
}

}  // namespace commands::export_

}  // namespace driftscope
