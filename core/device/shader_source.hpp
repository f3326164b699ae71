// Shaders as files: a small preprocessor makes the source of one program of a file of shaders/, its includes
// and the numbers that an operator gives it. Clients: the operators of GPU engines. It knows no shading
// language, but that a WGSL file in a GLSL program has its declarations respelled (respell.hpp).
//
//   #include "name.wgsl"      another file of the same folder, once; "folder/name.wgsl": of another one
//   #if EXPRESSION            with numbers, names that were given, ! && || == != < <= > >= + - * / % ( )
//   #elif … #else #endif
//   #for I in A..B … #end     the lines for each I in [A, B), with ${I} replaced
//   ${EXPRESSION}             its value, or the text of a name that was given; NAME[EXPRESSION] is the name
//                             with the number behind it
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "core/base/result.hpp"

namespace driftscope::gpu {

/// What an operator gives a shader: numbers and texts by name.
using ShaderValues = std::map<std::string, std::variant<std::int64_t, std::string>, std::less<>>;

/// The files of shaders/ in this build by "webgpu/name.wgsl" (generated).
[[nodiscard]] const std::map<std::string_view, std::string_view>& shader_files();

/// The source of the program. Errors name file and line: an unknown include, name or directive.
[[nodiscard]] Result<std::string> shader_source(std::string_view file, const ShaderValues& values);

/// The same of given files, for tests.
[[nodiscard]] Result<std::string> shader_source(const std::map<std::string_view, std::string_view>& files,
                                                std::string_view file, const ShaderValues& values);

}  // namespace driftscope::gpu
