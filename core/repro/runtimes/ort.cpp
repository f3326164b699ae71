// ONNX Runtime: its web builds and the native library. Issues as its template for the web asks for them.
#include <fmt/format.h>

#include "core/repro/issue_parts.hpp"
#include "core/repro/report_files.hpp"

namespace driftscope::repro::ort {
namespace {

std::string provider_of(const Facts& facts) {
  if (facts.engine == "ort-webgpu") return "webgpu";
  if (facts.engine == "ort-webgl") return "webgl";
  return "wasm";
}

std::string level_of(const Facts& facts) {
  const auto given = facts.options.find("opt");
  if (given == facts.options.end() || given->second == "all") return "all";
  return given->second == "none" ? "disabled" : given->second;
}

std::optional<std::string> page_script(const Report& report) {
  const Excerpt& one = report.one;
  const Facts& facts = report.facts;
  if (facts.module.empty()) return std::nullopt;
  std::string inputs;
  for (const NamedTensor& input : one.inputs)
    inputs += fmt::format("{0}{1}: new ort.Tensor(\"{2}\", (await load(\"{1}.npy\")).data, [{3}])",
                          inputs.empty() ? "" : ",\n  ", input.name, dtype_name(input.tensor.dtype()),
                          fmt::join(input.tensor.shape(), ", "));
  return fmt::format(
      "const ort = await import(\"./node_modules/onnxruntime-web/dist/{}\");\n"
      "ort.env.wasm.numThreads = 1;\n"
      "const session = await ort.InferenceSession.create(\"model.onnx\", {{\n"
      "  executionProviders: [\"{}\"], graphOptimizationLevel: \"{}\" }});\n"
      "const inputs = {{\n  {} }};\n"
      "const {{ y }} = await session.run(inputs);\n"
      "await report(await y.getData(){});\n",
      facts.module, provider_of(facts), level_of(facts), inputs,
      one.got.tensor.dtype() == DType::float16 ? ", true" : "");
}

std::vector<std::pair<std::string, std::string>> packages(const Facts& facts) {
  return {{"onnxruntime-web", facts.version}};
}

std::optional<std::string> script(const Report& report) {
  const Excerpt& one = report.one;
  const Facts& facts = report.facts;
  constexpr std::string_view levels = "ORT_DISABLE_ALL";
  std::string feeds;
  for (const NamedTensor& input : one.inputs)
    feeds += fmt::format("{0}\"{1}\": np.load(\"{1}.npy\")", feeds.empty() ? "" : ", ", input.name);
  return fmt::format(
      "# pip install onnxruntime numpy\n"
      "import sys\n\nimport numpy as np\nimport onnxruntime as ort\n\n"
      "options = ort.SessionOptions()\n{}"
      "session = ort.InferenceSession(\"model.onnx\", options, providers=[\"CPUExecutionProvider\"])\n"
      "(got,) = session.run([\"y\"], {{{}}})\n"
      "expected, bound = np.load(\"expected.npy\"), np.load(\"bound.npy\")\n"
      "error = np.abs(got.astype(np.float64) - expected)\n"
      "wrong = ~((got == expected) | (np.isnan(got.astype(np.float64)) & np.isnan(expected)) | (error <= "
      "bound))\n"
      "print(f\"onnxruntime {{ort.__version__}}: {{wrong.sum()}} of {{wrong.size}} elements are wrong\")\n"
      "for index in list(zip(*np.nonzero(wrong)))[:10]:\n"
      "    print([int(i) for i in index], \"got\", got[index], \"expected\", expected[index])\n"
      "sys.exit(1 if wrong.any() else 0)\n",
      level_of(facts) == "disabled"
          ? fmt::format("options.graph_optimization_level = ort.GraphOptimizationLevel.{}\n", levels)
          : std::string(),
      feeds);
}

std::string issue(const Report& report) {
  const Excerpt& one = report.one;
  const Facts& facts = report.facts;
  const bool web = facts.host != "pc";
  std::string text = fmt::format(
      "# [{}] {} gives a wrong result\n\n### Describe the issue\n\n"
      "The attached model gives another result {} than its definition, beyond what float32 rounding "
      "explains.\n\n",
      web ? "Web" : "CPU", one.node().op_type,
      web ? "with execution provider " + provider_of(facts) : "on the CPU");
  text +=
      contents_list(report) + "\n" + element_table(report) + cause_text(report) + parameter_section(report);
  text += "### To reproduce\n\n";
  if (web) text += page_steps() + " `repro.py` runs the same model with onnxruntime in Python.\n";
  if (!web) text += "In the attached folder:\n\n    python repro.py\n";
  text += fmt::format("\n### ONNX Runtime version\n\n{}{}\n\n### Execution provider\n\n'{}'{}\n",
                      web ? "onnxruntime-web " : "", facts.version, web ? provider_of(facts) : "cpu",
                      web ? "" : " (default)");
  text += "\n### Environment\n\n";
  if (!facts.browser.empty()) text += "- browser: " + facts.browser + "\n";
  if (!facts.device.empty()) text += "- device: " + facts.device + "\n";
  if (!facts.system.empty()) text += "- system: " + facts.system + "\n";
  return text + "\n### Urgency\n\nNo response\n";
}

}  // namespace

void add_to(RuntimeTable& table) {
  table.add({.engines = {"ort", "ort-webgpu", "ort-webgl"},
             .project = "ONNX Runtime",
             .page_script = page_script,
             .packages = packages,
             .installed = {{.path = "node_modules/onnxruntime-web/dist"}},
             .script = script,
             .issue = issue});
}

}  // namespace driftscope::repro::ort
