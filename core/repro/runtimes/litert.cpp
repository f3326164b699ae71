// LiteRT.js: its three accelerators, on a .tflite file. Issues as its makers have asked for in others:
// version, browser, system and GPU, the model, steps, what is expected and what comes.
#include <fmt/format.h>

#include "core/convert/tflite/to_tflite.hpp"
#include "core/repro/converted.hpp"
#include "core/repro/issue_parts.hpp"
#include "core/repro/report_files.hpp"

namespace driftscope::repro::litert {
namespace {

std::string accelerator_of(const Facts& facts) { return facts.engine.substr(facts.engine.find('-') + 1); }

std::string option_of(const Facts& facts, const std::string& name, const std::string& otherwise) {
  const auto found = facts.options.find(name);
  return found == facts.options.end() ? otherwise : found->second;
}

convert::Converter converter(const Facts& facts) {
  return accelerator_of(facts) == "wasm" ? tflite::to_litert : tflite::to_accelerator;
}

std::string page_head(const Report& /*report*/) {
  return "<script type=\"importmap\">{ \"imports\": {\n"
         "  \"@litertjs/core\": \"./node_modules/@litertjs/core/dist/index.js\",\n"
         "  \"@litertjs/wasm-utils\": \"./node_modules/@litertjs/wasm-utils/dist/index.js\" } }</script>\n";
}

std::string compile_options(const Facts& facts) {
  const std::string accelerator = accelerator_of(facts);
  std::string text = fmt::format("accelerator: \"{}\"", accelerator);
  const std::string precision = option_of(facts, "precision", "fp32");
  if (accelerator == "webgpu") text += fmt::format(", gpuOptions: {{ precision: \"{}\" }}", precision);
  if (accelerator == "webnn")
    text += fmt::format(
        ",\n  webNNOptions: {{ devicePreference: \"{}\", powerPreference: \"{}\", precision: \"{}\" }}",
        option_of(facts, "device", "cpu"), option_of(facts, "power", "default"), precision);
  return text;
}

std::optional<std::string> page_script(const Report& report) {
  std::string feeds;
  for (const PlacedInput& input : placed_inputs(report))
    feeds += fmt::format("{}\"{}\": new Tensor({}, {})", feeds.empty() ? "" : ",\n  ", input.name,
                         input.values, input.shape);
  // What the accelerator cannot run it runs on the CPU, where there is JSPI.
  const bool jspi = accelerator_of(report.facts) != "wasm";
  return "import { loadAndCompile, loadLiteRt, Tensor } from \"@litertjs/core\";\n" +
         placing_functions(report) +
         fmt::format(
             "await loadLiteRt(\"./node_modules/@litertjs/core/wasm/\"{});\n"
             "const model = await loadAndCompile(\"model.tflite\", {{ {} }});\n"
             "const inputs = {{\n  {} }};\n"
             "const outputs = await model.run(inputs);\n"
             "const values = await outputs[\"{}\"].data();\n"
             "await report({});\n",
             jspi ? ", { jspi: \"Suspending\" in WebAssembly }" : "", compile_options(report.facts), feeds,
             placed_output(report), restored_output(report, "values"));
}

std::vector<std::pair<std::string, std::string>> packages(const Facts& facts) {
  return {{"@litertjs/core", facts.version}};
}

std::string issue(const Report& report) {
  const Facts& facts = report.facts;
  std::string text = fmt::format("# [LiteRT.js / {}] {} gives a wrong result\n\n**Environment**\n\n",
                                 accelerator_of(facts), report.one.node().op_type);
  text += fmt::format("- version: @litertjs/core {}\n- browser: {}\n- system: {}\n", facts.version,
                      facts.browser, facts.system);
  text += fmt::format("- GPU or processor, with the adapter's vendor and architecture: {}\n",
                      facts.device.empty() ? "CPU" : facts.device);
  text += fmt::format("- compiled with: `{{ {} }}`\n", compile_options(facts));
  text += "\n**Model**\n\n`model.tflite` (attached, with `model.onnx`, from which it was made):\n\n";
  text += contents_list(report) + "\n" + conversion_text(report, "model.tflite");
  text += "\n**Steps to reproduce**\n\n" + page_steps() + "\n\n";
  text +=
      "**Expected**\n\n`expected.npy`, computed in double, within `bound.npy`, what rounding can explain in "
      "each element.\n\n";
  text += fmt::format("**Actual**\n\n{}.\n\n", wrong_text(report));
  return text + element_table(report) + cause_text(report) + parameter_section(report);
}

}  // namespace

void add_to(RuntimeTable& table) {
  table.add(
      {.engines = {"litert-wasm", "litert-webgpu", "litert-webnn"},
       .project = "LiteRT.js",
       .model = "model.tflite",
       .page_head = page_head,
       .page_script = page_script,
       .packages = packages,
       .installed = {{.path = "node_modules/@litertjs/core/dist", .renamed = {{"index.js", "litert.mjs"}}},
                     {.path = "node_modules/@litertjs/core/wasm"},
                     {.path = "node_modules/@litertjs/wasm-utils/dist",
                      .renamed = {{"index.js", "wasm_utils.mjs"}}}},
       .converter = converter,
       .issue = issue});
}

}  // namespace driftscope::repro::litert
