// TensorFlow.js: its four backends, on a graph model. Issues as its template for bugs asks for them.
#include <fmt/format.h>

#include "core/convert/tfjs/convert.hpp"
#include "core/repro/converted.hpp"
#include "core/repro/issue_parts.hpp"
#include "core/repro/report_files.hpp"

namespace driftscope::repro::tfjs {
namespace {

std::string backend_of(const Facts& facts) { return facts.engine.substr(facts.engine.find('-') + 1); }

std::string option_of(const Facts& facts, const std::string& name, const std::string& otherwise) {
  const auto found = facts.options.find(name);
  return found == facts.options.end() ? otherwise : found->second;
}

convert::Converter converter(const Facts& /*facts*/) { return convert::tfjs::convert; }

std::string page_head(const Report& report) {
  const std::string backend = backend_of(report.facts);
  std::string text;
  for (const std::string& file :
       {std::string("tfjs-core/dist/tf-core"), std::string("tfjs-converter/dist/tf-converter"),
        fmt::format("tfjs-backend-{0}/dist/tf-backend-{0}", backend)})
    text += fmt::format("<script src=\"node_modules/@tensorflow/{}.min.js\"></script>\n", file);
  return text;
}

/// Flags of the backend as the target has them.
std::string flags(const Facts& facts) {
  const std::string backend = backend_of(facts);
  const auto flag = [](const char* name, bool value) {
    return fmt::format("tf.env().set(\"{}\", {});\n", name, value);
  };
  if (backend == "wasm") {
    std::string text = "tf.wasm.setWasmPaths(\"node_modules/@tensorflow/tfjs-backend-wasm/dist/\");\n" +
                       flag("WASM_HAS_MULTITHREAD_SUPPORT", false);
    if (option_of(facts, "simd", "on") == "off") text += flag("WASM_HAS_SIMD_SUPPORT", false);
    return text;
  }
  const bool forward = option_of(facts, "cpu_forward", "on") == "on";
  if (backend == "webgpu") return forward ? "" : flag("WEBGPU_CPU_FORWARD", false);
  if (backend != "webgl") return "";
  std::string text = "// Only needed without a GPU.\n" + flag("SOFTWARE_WEBGL_ENABLED", true);
  if (option_of(facts, "pack", "on") == "off") text += flag("WEBGL_PACK", false);
  if (option_of(facts, "precision", "fp32") == "fp16") text += flag("WEBGL_FORCE_F16_TEXTURES", true);
  return forward ? text : text + flag("WEBGL_CPU_FORWARD", false);
}

std::optional<std::string> page_script(const Report& report) {
  std::string feeds;
  for (const PlacedInput& input : placed_inputs(report))
    feeds += fmt::format("{}\"{}\": tf.tensor({}, {}, \"{}\")", feeds.empty() ? "" : ",\n  ", input.name,
                         input.values, input.shape, input.dtype == "bool" ? "bool" : input.dtype);
  // Without a folder TensorFlow.js takes the weights from the root of the site.
  return placing_functions(report) + flags(report.facts) +
         fmt::format(
             "await tf.setBackend(\"{}\");\n"
             "await tf.ready();\n"
             "const model = await tf.loadGraphModel(\"./model.json\");\n"
             "const inputs = {{\n  {} }};\n"
             "const y = model.execute(inputs, \"{}\");\n"
             "const values = await y.data();\n"
             "await report({});\n",
             backend_of(report.facts), feeds, placed_output(report), restored_output(report, "values"));
}

std::vector<std::pair<std::string, std::string>> packages(const Facts& facts) {
  std::vector<std::pair<std::string, std::string>> list;
  for (const std::string& name :
       {std::string("core"), std::string("converter"), "backend-" + backend_of(facts)})
    list.emplace_back("@tensorflow/tfjs-" + name, facts.version);
  // The backends on the GPU name it as their dependency.
  if (backend_of(facts) == "webgl" || backend_of(facts) == "webgpu")
    list.emplace_back("@tensorflow/tfjs-backend-cpu", facts.version);
  return list;
}

std::string issue(const Report& report) {
  const Facts& facts = report.facts;
  const std::string op = report.one.node().op_type;
  std::string text = fmt::format(
      "# {} on the {} backend gives a wrong result\n\n**System information**\n\n"
      "- Have I written custom code (as opposed to using a stock example script provided in TensorFlow.js): "
      "yes, the attached page of a few lines\n"
      "- OS Platform and Distribution: {}\n- Mobile device: no\n"
      "- TensorFlow.js installed from (npm or script link): npm\n- TensorFlow.js version: {}\n"
      "- Browser version: {}\n- Tensorflow.js Converter Version: {} (to load the model)\n",
      op, backend_of(facts), facts.system, facts.version, facts.browser, facts.version);
  if (!facts.device.empty()) text += "- GPU or processor: " + facts.device + "\n";
  text += fmt::format(
      "\n**Describe the current behavior**\n\nThe attached graph model gives another result on `{}` than the "
      "definition of its operators, beyond what float32 rounding explains.\n\n",
      backend_of(facts));
  text +=
      contents_list(report) + "\n" + element_table(report) + cause_text(report) + parameter_section(report);
  text +=
      "**Describe the expected behavior**\n\n`expected.npy`, computed in double, within `bound.npy`, what "
      "rounding can explain in each element.\n\n";
  text += "**Standalone code to reproduce the issue**\n\n" + page_steps() + "\n\n";
  return text + "**Other info / logs**\n\n" + conversion_text(report, "model.json");
}

}  // namespace

void add_to(RuntimeTable& table) {
  table.add({.engines = {"tfjs-cpu", "tfjs-wasm", "tfjs-webgl", "tfjs-webgpu"},
             .project = "TensorFlow.js",
             .model = "model.json",
             .page_head = page_head,
             .page_script = page_script,
             .packages = packages,
             .installed = {{.path = "node_modules/@tensorflow/tfjs-core/dist"},
                           {.path = "node_modules/@tensorflow/tfjs-converter/dist"},
                           {.path = "node_modules/@tensorflow/tfjs-backend-cpu/dist"},
                           {.path = "node_modules/@tensorflow/tfjs-backend-wasm/dist"},
                           {.path = "node_modules/@tensorflow/tfjs-backend-webgl/dist"},
                           {.path = "node_modules/@tensorflow/tfjs-backend-webgpu/dist"}},
             .converter = converter,
             .issue = issue});
}

}  // namespace driftscope::repro::tfjs
