// driftscope gradient MODEL --of loss --wrt VALUE -o GRAPH.onnx: the gradient of a model as a model.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <map>

#include "core/gradient/gradient.hpp"
#include "core/model/onnx_reader.hpp"
#include "core/model/onnx_writer.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/host/model_file.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

struct GradientOptions {
  std::string model;
  std::string output;
  std::vector<std::string> input_shapes;
  GradientRequest request;
};

Result<Shape> gradient_shape(std::string_view text, const std::string& option) {
  Shape shape;
  while (true) {
    std::int64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || size < 1) break;
    shape.push_back(size);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) return shape;
    if (text[0] != 'x') break;
    text.remove_prefix(1);
  }
  return bad_input(fmt::format("--input-shape {}: expected sizes such as 1x3x224x224", option));
}

// In the order of the graph's inputs; none given: the model's own. What is open and not given is an error.
Result<std::vector<Shape>> gradient_shapes(const Graph& graph, const std::vector<std::string>& given) {
  std::vector<Shape> shapes;
  if (given.empty()) return shapes;
  std::map<std::string, Shape> by_name;
  for (const std::string& option : given) {
    const std::size_t equals = option.rfind('=');
    std::string name = equals == std::string::npos ? "" : option.substr(0, equals);
    if (name.empty() && graph.inputs.size() == 1) name = graph.values[graph.inputs[0]].name;
    DRIFTSCOPE_TRY(by_name[name], gradient_shape(std::string_view(option).substr(equals + 1), option));
  }
  for (const ValueId id : graph.inputs) {
    const Value& value = graph.values[id];
    const auto found = by_name.find(value.name);
    if (found != by_name.end()) {
      shapes.push_back(found->second);
      by_name.erase(found);
    } else if (const auto shape = value.static_shape()) {
      shapes.push_back(*shape);
    } else {
      return bad_input(fmt::format("input {} has open sizes: give them too: --input-shape {}=1x3x224x224",
                                   value.name, value.name));
    }
  }
  if (!by_name.empty())
    return bad_input(fmt::format("--input-shape {}: the model has no such input", by_name.begin()->first));
  return shapes;
}

Status run_gradient(GradientOptions options) {
  DRIFTSCOPE_TRY(const ModelFile file, load_model_file(options.model));
  DRIFTSCOPE_TRY(options.request.input_shapes, gradient_shapes(file.graph, options.input_shapes));
  const auto external = [&](const std::string& location, std::int64_t offset,
                            std::int64_t length) -> Result<ByteSource> {
    // Loading the file has checked all places.
    const auto found = std::ranges::find(file.attachments, location, &JobAttachment::location);
    if (found == file.attachments.end()) return bad_input(fmt::format("external data file {}", location));
    const std::uint64_t begin = static_cast<std::uint64_t>(offset);
    return found->bytes.source().part(
        begin, length < 0 ? found->bytes.size() - begin : static_cast<std::uint64_t>(length));
  };
  DRIFTSCOPE_TRY(const Model model, read_onnx(file.bytes.bytes(), external));
  DRIFTSCOPE_TRY(const GradientModel gradient, make_gradient(model, options.request));
  DRIFTSCOPE_TRY(const auto bytes, write_onnx(gradient.model));
  DRIFTSCOPE_CHECK(write_file(options.output, bytes));
  print_out("{}: {} nodes, opset {}\n", options.output, gradient.model.graph.nodes.size(),
            gradient.model.opsets.at(""));
  for (const ValueInfo& input : gradient.model.graph.inputs)
    print_out("  input {}: {} {}\n", input.name, dtype_name(input.dtype),
              input.shape ? shape_text(*input.shape) : "of unknown shape");
  for (const ValueInfo& output : gradient.model.graph.outputs)
    print_out(
        "  output {}: {} {}\n", output.name, dtype_name(output.dtype),
        output.shape ? (output.shape->empty() ? "scalar" : shape_text(*output.shape)) : "of unknown shape");
  return {};
}

}  // namespace

namespace commands::gradient {

static Command declare(CLI::App& app) {
  auto options = std::make_shared<GradientOptions>();
  app.add_option("model", options->model, "The model, an .onnx file")->required();
  app.add_option(
         "--of", options->request.of,
         "What is differentiated: loss, the sum over the batch of the cross-entropy with the labels "
         "(from logits; a final Softmax is left out); margin, the sum of logit `label` minus logit `other`; "
         "or an output, whose elements are summed")
      ->type_name("loss|margin|OUTPUT");
  app.add_option("--wrt", options->request.wrt,
                 "With respect to what: any floating value, weights included; several are allowed. Without "
                 "it, the floating input; of texts, what the embedding makes of the tokens")
      ->type_name("VALUE");
  app.add_option(
         "--sgd", options->request.step_rate,
         "Also the weights after one step of gradient descent by this rate, of those named with --wrt: "
         "outputs step/VALUE. The loss is a sum: for the mean of 128 samples, give the rate / 128")
      ->type_name("RATE");
  app.add_flag("--straight-through", options->request.straight_through,
               "Take QuantizeLinear for the identity within its range; without it quantized operators are an "
               "error");
  app.add_option(
         "--input-shape", options->input_shapes,
         "The shape of an input, NAME=1x3x224x224, where the gradient of an operator needs sizes that "
         "the model leaves open")
      ->type_name("SHAPE");
  app.add_option("-o,--output", options->output, "The gradient's model, an .onnx file")
      ->required()
      ->type_name("GRAPH");
  app.footer(
      "The result takes the model's inputs and `label` (int64 [N]) and gives `loss` and `grad/VALUE`. It is "
      "an ordinary\nONNX model: every target can run it, and verify judges it.\n\n"
      "  driftscope gradient lenet5.onnx -o lenet5.gradient.onnx\n"
      "  driftscope compare lenet5.gradient.onnx --left pc/reference --right pc/fast,pc/ort\n"
      "  driftscope gradient unet.onnx --of logits -o unet.gradient.onnx\n"
      "  driftscope gradient lenet1.onnx --wrt fc.weight --wrt fc.bias --sgd 0.05 -o step.onnx    # a "
      "training step");
  return [options] {
    const Status status = run_gradient(*options);
    if (!status.ok()) return print_error(status.error()), exit_of(status.error());
    return Exit::ok;
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 76,
             .name = "gradient",
             .summary = "Write the gradient of a model as a model.",
             .declare = declare});
}

}  // namespace commands::gradient

}  // namespace driftscope
