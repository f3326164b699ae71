// driftscope export MODEL --tfjs DIR …: the model in the formats of other runtimes.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>

#include "core/base/format.hpp"
#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/convert/format.hpp"
#include "core/eval/infer_shapes.hpp"
#include "core/report/text_table.hpp"
#include "generated/documents/export.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/host/model_file.hpp"
#include "native/os/files.hpp"
#include "native/os/folders.hpp"

namespace driftscope {
namespace {

struct ExportOptions {
  std::string model;
  std::vector<std::string> paths;  ///< by format; empty: not asked for
  std::vector<std::string> input_shapes;
  bool every_value = false;
  std::string json;
};

Result<Shape> read_shape(std::string_view text, std::string_view option) {
  Shape shape;
  while (!text.empty()) {
    std::int64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || size < 0) break;
    shape.push_back(size);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) return shape;
    if (text[0] != 'x') break;
    text.remove_prefix(1);
  }
  return bad_input(fmt::format("--input-shape {}: expected sizes such as 1x3x224x224", option));
}

// The given ones; symbols elsewhere become 1.
Result<std::vector<Shape>> input_shapes(const Graph& graph, const std::vector<std::string>& given) {
  std::vector<Shape> shapes;
  for (const ValueId id : graph.inputs) {
    const Value& value = graph.values[id];
    if (!value.shape)
      return bad_input(
          fmt::format("input {}: the model does not say how many axes it has; give them all: "
                      "--input-shape {}=1x3x224x224",
                      value.name, value.name));
    shapes.emplace_back();
    for (const Dimension& dimension : *value.shape)
      shapes.back().push_back(dimension.known() ? dimension.size : 1);
  }
  for (const std::string& option : given) {
    const std::size_t equals = option.rfind('=');
    const std::string name = equals == std::string::npos ? "" : option.substr(0, equals);
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < shapes.size(); ++i)
      if (name == graph.values[graph.inputs[i]].name || (name.empty() && shapes.size() == 1)) found = i;
    if (!found) {
      std::vector<std::string> names;
      for (const ValueId id : graph.inputs) names.push_back(graph.values[id].name);
      return bad_input(fmt::format("--input-shape {}: expected NAME=SHAPE with an input of the model: {}",
                                   option, fmt::join(names, ", ")));
    }
    DRIFTSCOPE_TRY(shapes[*found], read_shape(std::string_view(option).substr(equals + 1), option));
  }
  return shapes;
}

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

Status run_export(const ExportOptions& options) {
  const auto& formats = convert_formats().all();
  DRIFTSCOPE_TRY(const GraphFile file, load_graph_file(options.model, 1));
  DRIFTSCOPE_CHECK(check_outputs(options.model, file.graph));
  DRIFTSCOPE_TRY(const auto shapes, input_shapes(file.graph, options.input_shapes));
  DRIFTSCOPE_TRY(const Graph graph, bind_shapes(file.graph, shapes));
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
  if (options.json.empty()) return {};
  for (const ValueId id : graph.inputs) document.inputs.push_back(graph.values[id].name);
  for (const ValueId id : graph.outputs) document.outputs.push_back(graph.values[id].name);
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
  app.add_option(
         "--input-shape", options->input_shapes,
         "The shape of an input, NAME=1x3x224x224 (NAME= may be left out if there is one input); symbolic "
         "sizes are 1 without it")
      ->type_name("SHAPE");
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
