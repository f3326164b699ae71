#include "core/protocol/programs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "generated/protocol/messages.hpp"

namespace driftscope {
namespace {

using nlohmann::json;

// By hand: an engine of the page keeps what is generated of messages in its first file, which every visitor
// fetches (docs/build.md). The test reads it with what is generated.
json binding_json(const ProgramBinding& of) {
  json value = json::object();
  value["what"] = of.what;
  value["dtype"] = dtype_name(of.dtype);
  value["shape"] = of.shape;
  value["bytes"] = of.bytes;
  value["layout"] = of.layout;
  value["written"] = of.written;
  return value;
}

json program_json(const Program& of) {
  json value = json::object();
  value["file"] = of.file;
  value["code"] = of.code;
  value["groups"] = of.groups;
  json& bindings = value["bindings"] = json::array();
  for (const ProgramBinding& one : of.bindings) bindings.push_back(binding_json(one));
  return value;
}

Result<ProgramBinding> binding_of(messages::ProgramBinding&& of) {
  const auto dtype = dtype_named(of.dtype);
  if (!dtype)
    return bad_input(
        fmt::format("document \"node_programs\": no element type is called {}", in_quotes(of.dtype)));
  return ProgramBinding{.what = std::move(of.what),
                        .dtype = *dtype,
                        .shape = Shape(of.shape.begin(), of.shape.end()),
                        .bytes = of.bytes,
                        .layout = std::move(of.layout),
                        .written = of.written};
}

Result<Program> program_of(messages::Program&& of) {
  Program program{.file = std::move(of.file), .code = std::move(of.code), .groups = {}, .bindings = {}};
  if (of.groups.size() != program.groups.size())
    return bad_input(fmt::format("document \"node_programs\": field \"groups\": expected {} numbers, got {}",
                                 program.groups.size(), of.groups.size()));
  std::ranges::transform(of.groups, program.groups.begin(),
                         [](std::int64_t count) { return static_cast<std::uint32_t>(count); });
  for (messages::ProgramBinding& one : of.bindings) {
    DRIFTSCOPE_TRY(ProgramBinding binding, binding_of(std::move(one)));
    program.bindings.push_back(std::move(binding));
  }
  return program;
}

}  // namespace

std::vector<std::byte> write_programs(const NodePrograms& programs) {
  json value = json::object();
  value["language"] = programs.language;
  value["device"] = programs.device;
  value["driver"] = programs.driver;
  value["software"] = programs.software;
  value["draws"] = programs.draws;
  value["nodes"] = programs.nodes;
  value["on_strict"] = programs.on_strict;
  json& list = value["programs"] = json::array();
  for (const Program& one : programs.programs) list.push_back(program_json(one));
  const std::string text = json_text(value);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Result<NodePrograms> read_programs(std::span<const std::byte> document) {
  messages::NodePrograms read;
  const json value = parse_json({reinterpret_cast<const char*>(document.data()), document.size()});
  DRIFTSCOPE_CHECK(decode(value, read));
  NodePrograms programs{.language = std::move(read.language),
                        .device = std::move(read.device),
                        .driver = std::move(read.driver),
                        .software = read.software,
                        .draws = read.draws,
                        .nodes = std::move(read.nodes),
                        .on_strict = read.on_strict,
                        .programs = {}};
  for (messages::Program& one : read.programs) {
    DRIFTSCOPE_TRY(Program program, program_of(std::move(one)));
    programs.programs.push_back(std::move(program));
  }
  return programs;
}

}  // namespace driftscope
