// Any bytes as the file of a trace that stays on disk: what is read of it piece by piece is what is read
// at once.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "core/trace/trace_file.hpp"
#include "core/trace/trace_view.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace driftscope;
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto whole = read_trace(bytes);
  const auto view = TraceView::open(bytes);
  if (whole.ok() && !view.ok()) std::abort();
  if (!view.ok()) return 0;
  bool loaded = true;
  for (std::size_t i = 0; i < view->size(); ++i) {
    const auto tensor = view->load(i);
    loaded = loaded && tensor.ok();
    if (!whole.ok() || !tensor.ok()) continue;
    const Tensor* same = whole->find((*view)[i].name);
    if (same == nullptr || same->dtype() != tensor->dtype() || same->shape() != tensor->shape() ||
        !std::ranges::equal(same->bytes(), tensor->bytes()))
      std::abort();
  }
  // Elements are checked when they are loaded.
  if (whole.ok() != loaded) {
    for (const LaterName& later : later_names(view->about()))
      loaded = loaded && view->load_later(later.run, later.value).ok();
    if (whole.ok() != loaded) std::abort();
  }
  return 0;
}
