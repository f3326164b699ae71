#include "core/inputs/input_source.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/checked.hpp"

namespace driftscope {
namespace {

class SingleItem final : public InputSource {
 public:
  explicit SingleItem(InputItem item) : item_(std::move(item)) {}
  [[nodiscard]] std::string text() const override { return item_.text; }
  [[nodiscard]] Result<InputItem> item(std::int64_t i) const override {
    if (i != 0) return bad_input(fmt::format("{}: item {} does not exist: there is one", item_.text, i));
    return item_;
  }

 private:
  InputItem item_;
};

}  // namespace

void InputSourceTable::add(InputSourceKind kind) {
  const auto later = [](int order, const InputSourceKind& other) { return order < other.order; };
  kinds_.insert(std::upper_bound(kinds_.begin(), kinds_.end(), kind.order, later), std::move(kind));
}

Result<std::unique_ptr<InputSource>> open_input_source(const std::string& spec, const InputSite& site) {
  std::string forms;
  for (const InputSourceKind& kind : input_source_table().all()) {
    if (kind.accepts(spec, site)) return kind.open(spec, site);
    forms = kind.form + (forms.empty() ? "" : ", ") + forms;
  }
  const std::size_t comma = forms.rfind(", ");
  forms.replace(comma, 2, " or ");
  const std::size_t dot = spec.rfind('.');
  const bool extension = dot != std::string::npos && spec.find('/', dot) == std::string::npos;
  return bad_input(fmt::format("--input {}: unknown kind of file '{}'; expected {}", spec,
                               extension ? spec.substr(dot) : "", forms));
}

std::unique_ptr<InputSource> single_item(InputItem item) {
  return std::make_unique<SingleItem>(std::move(item));
}

Result<NamedInputs> stacked_items(const InputSource& source, std::int64_t first, std::int64_t count) {
  const auto end = checked_add(first, count);
  if (first < 0 || count < 1 || !end || *end > source.size().value_or(*end))
    return bad_input(fmt::format("{}: {} items from {} on do not exist", source.text(), count, first));
  NamedInputs all;
  for (std::int64_t i = first; i < *end; ++i) {
    DRIFTSCOPE_TRY(InputItem item, source.item(i));
    if (i == first) {
      for (const NamedTensor& one : item.tensors) {
        Shape shape = one.tensor.shape();
        shape.insert(shape.begin(), count);
        DRIFTSCOPE_TRY(Tensor tensor, Tensor::make(one.tensor.dtype(), std::move(shape), "samples"));
        all.push_back({one.name, std::move(tensor)});
      }
    }
    for (std::size_t t = 0; t < all.size(); ++t) {
      const auto to = all[t].tensor.mutable_bytes();
      const std::size_t bytes = to.size() / static_cast<std::size_t>(count);
      if (t >= item.tensors.size() || item.tensors[t].tensor.byte_size() != bytes)
        return bad_input(fmt::format("{}: item {} has another shape than item {}", source.text(), i, first));
      std::ranges::copy(
          item.tensors[t].tensor.bytes(),
          to.begin() + static_cast<std::ptrdiff_t>(bytes * static_cast<std::size_t>(i - first)));
    }
  }
  return all;
}

std::string input_names(const Graph& graph) {
  std::string names;
  for (const ValueId id : graph.inputs) names += (names.empty() ? "" : ", ") + graph.value_name(id);
  return names;
}

bool is_input(const Graph& graph, std::string_view name) {
  return std::ranges::any_of(graph.inputs, [&](ValueId id) { return graph.values[id].name == name; });
}

}  // namespace driftscope
