// Any bytes as two stored comparisons, made a wall: nothing in them becomes markup, and every page is there.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/wall/pages.hpp"
#include "core/wall/read_runs.hpp"

namespace {

using namespace driftscope;

// A wall has none of these tags.
void expect_no_foreign_tags(std::string_view html) {
  for (const std::string_view foreign :
       {"<script", "<img", "<iframe", "<object", "<embed", "<link", "<base", "<form"})
    if (html.find(foreign) != std::string_view::npos) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)wall::may_be_comparison(text);
  const auto runs = wall::read_runs(text, "<img src=x>.json", "2026-11-30T03:08:16Z");
  if (!runs.ok() || runs->empty()) return 0;
  std::vector<wall::StoredFile> files = {{.name = "a", .digest = "a", .runs = *runs, .error = {}},
                                         {.name = "b", .digest = "b", .runs = *runs, .error = {}}};
  for (wall::Run& run : files[1].runs) {  // so that there is a change
    run.model = "<script>alert(1)</script>.onnx";
    run.state = run.state == wall::State::fault ? wall::State::rounding : wall::State::fault;
    run.browser += " 1.<img src=x>";
  }
  const wall::Wall made = wall::make_wall(std::move(files));
  if (made.models.empty() || made.runs != 2 * runs->size()) std::abort();
  expect_no_foreign_tags(wall::front_page(made).html);
  for (std::size_t i = 0; i < made.models.size(); ++i) expect_no_foreign_tags(wall::model_page(made, i).html);
  return 0;
}
