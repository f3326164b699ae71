// WebNN, an API of browsers: the page builds the graph by the calls that the target made. Issues as
// Chromium's tracker asks for them.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "core/dataset/npy.hpp"
#include "core/repro/issue_parts.hpp"
#include "core/repro/report_files.hpp"

namespace driftscope::repro::webnn {
namespace {

std::string option_of(const Facts& facts, const std::string& name, const std::string& otherwise) {
  const auto found = facts.options.find(name);
  return found == facts.options.end() ? otherwise : found->second;
}

std::string file_of(const Value& value) { return value.name + ".npy"; }

/// Weights that the calls read.
Result<std::vector<File>> more_files(const Report& report) {
  if (report.facts.calls.empty())
    return unsupported("the target did not say how it built the graph: there is no page without it");
  constexpr std::string_view load = "load(\"";
  std::set<std::string> names;
  const std::string_view calls = report.facts.calls;
  for (std::size_t at = calls.find(load); at != std::string_view::npos; at = calls.find(load, at + 1)) {
    const std::size_t begin = at + load.size();
    names.emplace(calls.substr(begin, calls.find('"', begin) - begin));
  }
  std::vector<File> files;
  for (const std::string& name : names) {
    const auto value = std::ranges::find(report.one.graph.values, name, file_of);
    if (value == report.one.graph.values.end() || !value->constant)
      return unsupported(fmt::format("the page needs {}, which is none of the model's weights", name));
    DRIFTSCOPE_TRY(auto bytes, write_npy(*value->constant));
    files.push_back({name, std::move(bytes)});
  }
  return files;
}

std::optional<std::string> page_script(const Report& report) {
  const Facts& facts = report.facts;
  std::string inputs;
  for (const NamedTensor& input : report.one.inputs)
    inputs += fmt::format("await give(\"{0}\", (await load(\"{0}.npy\")).data);\n", input.name);
  return fmt::format(
      "const context = await navigator.ml.createContext({{ deviceType: \"{}\", powerPreference: \"{}\" "
      "}});\n"
      "const builder = new MLGraphBuilder(context);\n"
      "const types = {{}}; // of the inputs\n"
      "{}"
      "const given = {{}};\n"
      "async function give(name, data) {{\n"
      "  if (!types[name]) return; // nothing reads it\n"
      "  given[name] = await context.createTensor({{ ...types[name], writable: true }});\n"
      "  context.writeTensor(given[name], data);\n"
      "}}\n"
      "{}"
      "const result = await context.createTensor({{ dataType: y.dataType, shape: y.shape, readable: true "
      "}});\n"
      "context.dispatch(graph, given, {{ y: result }});\n"
      "const arrays = {{ float32: Float32Array, float16: Uint16Array, int32: Int32Array, uint32: "
      "Uint32Array,\n"
      "  int64: BigInt64Array, uint64: BigUint64Array, int8: Int8Array, uint8: Uint8Array }};\n"
      "await report(new arrays[y.dataType](await context.readTensor(result)){});\n",
      option_of(facts, "device", "cpu"), option_of(facts, "power", "default"), facts.calls, inputs,
      report.one.got.tensor.dtype() == DType::float16 ? ", true" : "");
}

std::vector<std::pair<std::string, std::string>> packages(const Facts& /*facts*/) { return {}; }

std::string issue(const Report& report) {
  const Facts& facts = report.facts;
  std::string text = fmt::format(
      "# WebNN: {} gives a wrong result\n\n**Steps to reproduce the problem**\n\nIn the attached folder:\n\n"
      "    npx http-server    # then open index.html\n\nin Chrome with "
      "`--enable-features=WebMachineLearningNeuralNetwork`. The page builds the graph by calls of "
      "MLGraphBuilder, shows the wrong elements and turns red.\n\n",
      report.one.node().op_type);
  text += "**Problem description**\n\n" + contents_list(report) + "\n" + element_table(report) +
          cause_text(report) + parameter_section(report) + expected_and_instead(report);
  text += fmt::format("**Chrome version**\n\n{}\n\n**OS**\n\n{}\n", facts.browser, facts.system);
  if (!facts.device.empty()) text += fmt::format("\n**Device**\n\n{}\n", facts.device);
  return text + fmt::format(
                    "\n**Context**\n\n`{{ deviceType: \"{}\", powerPreference: \"{}\" }}`; `model.onnx` is "
                    "the same node, from which the calls were made.\n",
                    option_of(facts, "device", "cpu"), option_of(facts, "power", "default"));
}

}  // namespace

void add_to(RuntimeTable& table) {
  table.add({.engines = {"webnn"},
             .project = "WebNN",
             .model = "",
             .page_script = page_script,
             .packages = packages,
             .more_files = more_files,
             .issue = issue});
}

}  // namespace driftscope::repro::webnn
