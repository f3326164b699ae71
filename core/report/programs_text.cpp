#include "core/report/programs_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace driftscope {
namespace {

std::string binding_line(std::size_t number, const ProgramBinding& it, bool draws) {
  return fmt::format("//   {} {}: {}, {}, {}[{}], {} bytes{}\n", draws ? "texture" : "binding", number,
                     it.what, it.written ? "written" : "read", dtype_name(it.dtype), fmt::join(it.shape, "×"),
                     it.bytes, it.layout.empty() ? "" : ", " + it.layout);
}

std::string extent_text(const Program& program, bool draws) {
  const auto& [x, y, z] = program.groups;
  return draws ? fmt::format("drawn to {} × {} pixels", x, y)
               : fmt::format("dispatched as {} × {} × {} workgroups", x, y, z);
}

}  // namespace

std::string programs_text(const NodePrograms& of, std::string_view engine) {
  std::string text = fmt::format("// {}{}\n// device: {}{}\n// driver: {}\n", fmt::join(of.nodes, " + "),
                                 of.nodes.size() > 1 ? ": fused, they run as one" : "", of.device,
                                 of.software ? " (software)" : "", of.driver);
  if (of.on_strict)
    text += fmt::format("// {} runs {} on the kernels of strict, on the CPU.\n", engine,
                        of.programs.empty() ? "it" : "a part of it");
  else if (of.programs.empty())
    text += fmt::format(
        "// {} has no shader for it: its result is a constant or another view of its input.\n", engine);
  for (std::size_t i = 0; i < of.programs.size(); ++i) {
    const Program& program = of.programs[i];
    text += fmt::format("\n// shader {} of {}: {} from {}, {}\n", i + 1, of.programs.size(), of.language,
                        program.file, extent_text(program, of.draws));
    for (std::size_t number = 0; number < program.bindings.size(); ++number)
      text += binding_line(number, program.bindings[number], of.draws);
    text += program.code;
    if (!text.ends_with('\n')) text += '\n';
  }
  return text;
}

}  // namespace driftscope
