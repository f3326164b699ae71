#include "core/inputs/input_source.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/checked.hpp"
#include "core/base/text.hpp"

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

/// How an item differs from the first one, which `all` was made for; "" where it does not.
std::string difference(const NamedInputs& all, const NamedInputs& item) {
  if (item.size() != all.size()) return fmt::format("{} tensors, expected {}", item.size(), all.size());
  for (std::size_t t = 0; t < all.size(); ++t) {
    const Tensor& got = item[t].tensor;
    const Tensor& wanted = all[t].tensor;
    const auto shape = std::span(wanted.shape()).subspan(1);
    if (item[t].name != all[t].name)
      return fmt::format("a tensor {}, expected {}", in_quotes(item[t].name), in_quotes(all[t].name));
    if (got.dtype() != wanted.dtype() || !std::ranges::equal(got.shape(), shape))
      return fmt::format("{} {} {}, expected {} {}", in_quotes(item[t].name), dtype_name(got.dtype()),
                         shape_text(got.shape()), dtype_name(wanted.dtype()), shape_text(shape));
  }
  return "";
}

/// Zeros for so many items like the first.
Result<NamedInputs> room_for(const InputSource& source, const NamedInputs& item, std::int64_t count) {
  NamedInputs all;
  for (const NamedTensor& one : item) {
    const DType dtype = one.tensor.dtype();
    if (bits_per_element(dtype) % 8 != 0)
      return unsupported(fmt::format("{}: {} is {}, two elements to a byte: such items cannot be stacked",
                                     source.text(), in_quotes(one.name), dtype_name(dtype)));
    Shape shape = one.tensor.shape();
    shape.insert(shape.begin(), count);
    DRIFTSCOPE_TRY(Tensor tensor, Tensor::make(dtype, std::move(shape), "samples"));
    all.push_back({one.name, std::move(tensor)});
  }
  return all;
}

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
      DRIFTSCOPE_TRY(all, room_for(source, item.tensors, count));
    }
    if (const std::string other = difference(all, item.tensors); !other.empty())
      return bad_input(fmt::format("{}: item {} has {} as in item {}; items that run together must be alike",
                                   source.text(), i, other, first));
    for (std::size_t t = 0; t < all.size(); ++t) {
      const auto from = item.tensors[t].tensor.bytes();
      const std::size_t at = from.size() * static_cast<std::size_t>(i - first);
      std::ranges::copy(from, all[t].tensor.mutable_bytes().subspan(at, from.size()).begin());
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

Result<NamedInputs> chosen_items(const NamedInputs& stacked, std::span<const std::int64_t> places) {
  NamedInputs chosen;
  for (const auto& [name, whole] : stacked) {
    Shape shape = whole.shape();
    const std::size_t bytes = whole.byte_size() / static_cast<std::size_t>(shape.front());
    shape.front() = std::ssize(places);
    DRIFTSCOPE_TRY(Tensor tensor, Tensor::make(whole.dtype(), std::move(shape), name));
    for (std::size_t i = 0; i < places.size(); ++i)
      std::ranges::copy(whole.bytes().subspan(static_cast<std::size_t>(places[i]) * bytes, bytes),
                        tensor.mutable_bytes().subspan(i * bytes, bytes).begin());
    chosen.push_back({name, std::move(tensor)});
  }
  return chosen;
}

}  // namespace driftscope
