#include "core/repro/report_files.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/format.hpp"
#include "core/dataset/npy.hpp"
#include "core/graph/graph_model.hpp"
#include "core/model/onnx_writer.hpp"
#include "core/repro/converted.hpp"

namespace driftscope::repro {
namespace {

File text_file(std::string name, std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {std::move(name), {bytes.begin(), bytes.end()}};
}

std::string picture(std::string_view colour, std::string_view path) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"48\" height=\"48\" viewBox=\"0 0 48 48\"><circle "
      "cx=\"24\" cy=\"24\" r=\"23\" fill=\"{}\"/><path d=\"{}\" fill=\"none\" stroke=\"#fff\" "
      "stroke-width=\"5\" stroke-linecap=\"round\"/></svg>\n",
      colour, path);
}

constexpr std::string_view page_start = R"(<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
  body {{ font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 50rem; padding: 0 1rem;
    color: #222; }}
  #outcome {{ display: flex; gap: 1rem; align-items: center; font-size: 1.25rem; min-height: 48px; }}
  table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
  td, th {{ padding: .15rem 1rem .15rem 0; text-align: right; }}
  th {{ border-bottom: 1px solid #888; }}
  tr.wrong td {{ color: #b00020; }}
  code {{ font-size: .9em; }}
</style>
<h1>{title}</h1>
<p id="outcome">Running …</p>
<p><code>model.onnx</code> is {node}. {runs} on {runtime}; its inputs are <code>{inputs}</code>. The
result is compared with <code>expected.npy</code>, computed in double, within <code>bound.npy</code>, what
rounding can explain.</p>
<table id="elements"></table>
{table})";

// NumPy's format 1: a text that describes the type and sizes, then the numbers.
constexpr std::string_view page_functions = R"(
const types = { "<f4": Float32Array, "<f8": Float64Array, "<f2": Uint16Array, "<i8": BigInt64Array,
  "<i4": Int32Array, "<u8": BigUint64Array, "<u4": Uint32Array, "<i2": Int16Array, "<u2": Uint16Array,
  "|i1": Int8Array, "|u1": Uint8Array, "|b1": Uint8Array };
async function load(name) {
  const buffer = await (await fetch(name)).arrayBuffer();
  const header = new DataView(buffer).getUint16(8, true);
  const text = new TextDecoder().decode(buffer.slice(10, 10 + header));
  const shape = /\(([^)]*)\)/.exec(text)[1].split(",").filter((size) => size.trim()).map(Number);
  return { data: new types[/'descr': '([^']*)'/.exec(text)[1]](buffer.slice(10 + header)), shape };
}
function half(bits) {
  const [sign, exponent, fraction] = [bits & 0x8000 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -24 * fraction);
}
function show(picture, text) {
  const image = Object.assign(new Image(48, 48), { src: picture, alt: "" });
  document.querySelector("#outcome").replaceChildren(image, text);
}
async function report(data, float16 = false) {
  const expected = (await load("expected.npy")).data;
  const bound = (await load("bound.npy")).data;
  const number = (x) => (float16 && data instanceof Uint16Array ? half(x) : Number(x));
  const rows = Array.from(data, (x, i) => {
    const [got, want] = [number(x), Number(expected[i])];
    const same = Object.is(got, want) || got === want;
    const error = same ? 0 : Math.abs(got - want);
    const bounded = error < Infinity && bound[i] > 0;
    const excess = same ? 0 : bounded ? error / bound[i] : Infinity;
    return { i, got, want, error, excess };
  });
  const wrong = rows.filter(({ excess }) => excess > 1);
  rows.sort((a, b) => b.excess - a.excess || a.i - b.i);
  const row = (cells, tag) => Object.assign(document.createElement("tr"), { innerHTML:
    cells.map((cell) => `<${tag}>${cell}</${tag}>`).join("") });
  const lines = rows.slice(0, 12).map(({ i, got, want, error, excess }) => Object.assign(
    row([i, got.toPrecision(9), want.toPrecision(9), error.toPrecision(3), excess.toPrecision(3)], "td"),
    { className: excess > 1 ? "wrong" : "" }));
  const heads = ["element", "got", "expected", "error", "error ÷ bound"];
  document.querySelector("#elements").replaceChildren(row(heads, "th"), ...lines);
  console.log(`${wrong.length} of ${rows.length} elements are wrong`, rows.slice(0, 12));
  show(wrong.length ? "wrong.svg" : "right.svg", `${wrong.length} of ${rows.length} elements are wrong`);
}
const fail = (text) => show(`failed.svg?why=${encodeURIComponent(text.slice(0, 500))}`, text);
addEventListener("unhandledrejection", ({ reason }) => fail(String(reason?.message ?? reason)));
addEventListener("error", ({ message }) => fail(message)); // of the script below as well
)";

std::string input_list(const Excerpt& one) {
  std::string text;
  for (const NamedTensor& input : one.inputs) text += (text.empty() ? "" : ", ") + input.name + ".npy";
  return text.empty() ? "no file" : text;
}

/// How the model comes to the runtime.
std::string runs_text(const Runtime& runtime) {
  if (runtime.model == "model.onnx") return "It runs";
  if (runtime.model.empty()) return "This page builds it by the runtime's own calls; it runs";
  return fmt::format("<code>{}</code>, converted from it, runs", runtime.model);
}

/// One parameter beside right and wrong.
std::string parameter_html(const std::optional<ParameterTable>& table) {
  if (!table) return {};
  std::string text = fmt::format("<p>The same node is {}.</p>\n", html_text(parameter_text(*table), 2000));
  if (!table->separates()) return text;
  text += fmt::format("<table>\n<tr><th>{}</th><th></th><th>wrong elements</th><th>largest error</th></tr>\n",
                      html_text(table->parameter));
  for (const ParameterRow& row : table->rows)
    text += fmt::format("<tr class=\"{}\"><td>{}</td><td>{}</td><td>{} of {}</td><td>{:.3g}</td></tr>\n",
                        row.wrong ? "wrong" : "", row.value, row.wrong ? "wrong" : "right",
                        format_count(row.wrong_elements), format_count(row.elements), row.largest_error);
  return text + "</table>\n";
}

/// Text in a script cannot end it: names in its strings are the user's.
std::string within_script(std::string script) {
  for (std::size_t at = script.find("</"); at != std::string::npos; at = script.find("</", at + 3))
    script.insert(at + 1, "\\");
  return script;
}

std::string page(const Runtime& runtime, const Report& report, const std::string& script) {
  const auto& [one, facts, own, table] = report;
  const std::string head = runtime.page_head == nullptr ? std::string() : runtime.page_head(report);
  std::string on(runtime.project);
  if (!facts.version.empty()) on += " " + facts.version;
  std::string text =
      fmt::format(fmt::runtime(page_start),
                  fmt::arg("title", html_text(fmt::format("{} on {}", one.node().op_type, on), 200)),
                  fmt::arg("runs", runs_text(runtime)), fmt::arg("table", parameter_html(table)),
                  fmt::arg("node", html_text(nodes_text(one.graph), 4000)),
                  fmt::arg("runtime", html_text(fmt::format("{} ({})", on, facts.engine), 200)),
                  fmt::arg("inputs", html_text(input_list(one), 400)));
  return text + head + "<script>" + std::string(page_functions) + "</script>\n<script type=\"module\">\n" +
         within_script(script) + "</script>\n</html>\n";
}

std::string package_json(const std::vector<std::pair<std::string, std::string>>& packages) {
  if (packages.empty()) return {};
  std::string text = "{\n  \"private\": true,\n  \"dependencies\": {";
  bool first = true;
  for (const auto& [name, version] : packages) {
    text += fmt::format("{}\n    \"{}\": \"{}\"", first ? "" : ",", name, version);
    first = false;
  }
  return text + "\n  }\n}\n";
}

std::string value_text(const Attribute::Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *number);
  if (const auto* real = std::get_if<float>(&value)) return fmt::format("{:g}", *real);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value))
    return fmt::format("[{}]", fmt::join(*list, ", "));
  if (const auto* reals = std::get_if<std::vector<float>>(&value))
    return fmt::format("[{:g}]", fmt::join(*reals, ", "));
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value))
    return fmt::format("[{}]", fmt::join(*texts, ", "));
  return "…";
}

}  // namespace

std::string node_text(const Node& node) {
  std::string text = node.domain.empty() ? node.op_type : node.domain + "." + node.op_type;
  for (const Attribute& attribute : node.attributes)
    text += ", " + attribute.name + " " + value_text(attribute.value);
  return text;
}

std::string nodes_text(const Graph& graph) {
  if (graph.nodes.size() == 1) return "one node: " + node_text(graph.nodes[0]);
  std::string text;
  for (const Node& node : graph.nodes) text += (text.empty() ? "" : " → ") + node_text(node);
  return fmt::format("{} nodes: {}", graph.nodes.size(), text);
}

std::string type_text(const Tensor& tensor) {
  return fmt::format("{} {}", dtype_name(tensor.dtype()), shape_text(tensor.shape()));
}

Result<std::vector<File>> model_files(const Excerpt& one) {
  std::vector<File> files;
  DRIFTSCOPE_TRY(const Model model, model_of(one.graph));
  DRIFTSCOPE_TRY(auto bytes, write_onnx(model));
  files.push_back({"model.onnx", std::move(bytes)});
  const auto add_array = [&](const std::string& name, const Tensor& tensor) -> Status {
    DRIFTSCOPE_TRY(auto array, write_npy(tensor));
    files.push_back({name + ".npy", std::move(array)});
    return {};
  };
  for (const NamedTensor& input : one.inputs) DRIFTSCOPE_CHECK(add_array(input.name, input.tensor));
  DRIFTSCOPE_CHECK(add_array("expected", one.expected));
  DRIFTSCOPE_CHECK(add_array("bound", one.bound));
  DRIFTSCOPE_CHECK(add_array("recorded", one.got.tensor));
  return files;
}

Result<std::vector<File>> report_files(const Excerpt& one, const Facts& facts,
                                       const std::optional<ParameterTable>& table, ThreadPool& threads) {
  DRIFTSCOPE_TRY(const Runtime* const runtime, runtime_for(facts.engine));
  Report report{.one = one, .facts = facts, .own = {}, .table = table};
  if (runtime->converter != nullptr) {
    DRIFTSCOPE_TRY(report.own, checked_conversion(one, facts, runtime->converter(facts), threads));
  }
  DRIFTSCOPE_TRY(std::vector<File> files, model_files(one));
  for (const convert::File& file : report.own.files) files.push_back({file.name, file.bytes});
  if (runtime->more_files != nullptr) {
    DRIFTSCOPE_TRY(std::vector<File> more, runtime->more_files(report));
    for (File& file : more) files.push_back(std::move(file));
  }
  if (runtime->page_script != nullptr)
    if (const auto script = runtime->page_script(report)) {
      files.push_back(text_file("index.html", page(*runtime, report, *script)));
      files.push_back(text_file(std::string(right_picture), picture("#188038", "M14 25l7 7 14-15")));
      files.push_back(text_file(std::string(wrong_picture), picture("#b00020", "M16 16l16 16M32 16L16 32")));
      files.push_back(text_file(std::string(failed_picture), picture("#777", "M24 13v14M24 34v1")));
      if (const std::string packages = package_json(runtime->packages(facts)); !packages.empty())
        files.push_back(text_file("package.json", packages));
    }
  if (runtime->script != nullptr)
    if (const auto script = runtime->script(report)) files.push_back(text_file("repro.py", *script));
  files.push_back(text_file("issue.md", runtime->issue(report)));
  return files;
}

std::vector<std::string> disclosed(const Excerpt& one, bool anonymous) {
  std::vector<std::string> lines = {"operators and their attributes: " + nodes_text(one.graph)};
  // Other floats take their place; whole numbers, which may be indices, are only in another order.
  const auto add = [&](std::string_view what, const std::string& name, const Tensor& tensor) {
    const std::string_view shown = !anonymous                    ? what
                                   : is_floating(tensor.dtype()) ? "sizes and root mean square of"
                                                                 : "values, in another order, of";
    lines.push_back(fmt::format("{} {}: {}", shown, name, type_text(tensor)));
  };
  for (const Value& value : one.graph.values)
    if (value.constant) add("weights:", value.name, *value.constant);
  for (const NamedTensor& input : one.inputs) add("recorded values:", input.name, input.tensor);
  lines.emplace_back("no names of the model or of its values, no other layer");
  return lines;
}

}  // namespace driftscope::repro
