// Models that are exported, read back and run: their results are exact numbers. Clients: tests of exports.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <variant>
#include <vector>

#include "core/convert/format.hpp"
#include "core/convert/read_model.hpp"
#include "core/convert_check/layout.hpp"
#include "core/model/tensor_elements.hpp"
#include "tests/unit/convert/read_back.hpp"

namespace driftscope::test {

using Numbers = std::vector<double>;

/// What the export in this format computes, as numbers; one text instead where it is refused.
inline std::variant<Numbers, std::string> through(std::string_view format_name, const ModelBuilder& builder,
                                                  const NamedInputs& inputs) {
  for (const convert::Format& format : convert_formats().all()) {
    if (format.option != format_name) continue;
    auto bound = bind_inputs(inferred(builder), inputs);
    REQUIRE_MESSAGE(bound.ok(), bound.error().message);
    const auto written = format.convert(*bound->graph, {});
    if (!written.ok()) return written.error().message;
    const auto read = convert::read_foreign_model(written->files.at(0).bytes, files_of(*written));
    REQUIRE_MESSAGE(read.ok(), read.error().message);
    REQUIRE(*read);
    const auto graph = build_graph((*read)->model);
    REQUIRE_MESSAGE(graph.ok(), graph.error().message);
    const auto matched = convert::match_inputs(inputs, *graph, {});
    REQUIRE_MESSAGE(matched.ok(), matched.error().message);
    const RunModel run = run_model(*graph, matched->tensors);
    return numbers_of(*run.trace.find(graph->value_name(graph->outputs.at(0))));
  }
  FAIL("no such format");
  return {};
}

inline void expect(const ModelBuilder& builder, const NamedInputs& inputs, const Numbers& expected,
                   std::initializer_list<std::string_view> formats = {"tfjs", "tflite"}) {
  for (const std::string_view format : formats) {
    CAPTURE(format);
    const auto got = through(format, builder, inputs);
    if (const auto* refused = std::get_if<std::string>(&got)) FAIL_CHECK(*refused);
    if (const auto* numbers = std::get_if<Numbers>(&got))
      CHECK_MESSAGE(*numbers == expected, fmt::format("{}", fmt::join(*numbers, " ")));
  }
}

/// Why it is refused, by both formats.
inline void expect_refusal(const ModelBuilder& builder, const NamedInputs& inputs,
                           const std::vector<std::string>& parts) {
  for (const std::string_view format : {"tfjs", "tflite"}) {
    CAPTURE(format);
    const auto got = through(format, builder, inputs);
    REQUIRE(std::holds_alternative<std::string>(got));
    for (const std::string& part : parts)
      CHECK_MESSAGE(std::get<std::string>(got).find(part) != std::string::npos, std::get<std::string>(got));
  }
}

}  // namespace driftscope::test
