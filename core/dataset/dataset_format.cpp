#include "core/dataset/dataset_format.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace driftscope {

void DatasetFormatTable::add(DatasetFormat format) {
  const auto later = [](int order, const DatasetFormat& other) { return order < other.order; };
  formats_.insert(std::upper_bound(formats_.begin(), formats_.end(), format.order, later), std::move(format));
}

const DatasetFormat* DatasetFormatTable::find(std::string_view name) const {
  const auto found = std::ranges::find(formats_, name, &DatasetFormat::name);
  return found == formats_.end() ? nullptr : &*found;
}

std::string dataset_forms() {
  std::string text;
  const auto all = dataset_format_table().all();
  for (std::size_t i = 0; i < all.size(); ++i)
    text += fmt::format("{}{}:{}",
                        i == 0               ? ""
                        : i + 1 < all.size() ? ", "
                                             : " or ",
                        all[i].name, all[i].what);
  return text;
}

std::string sample_forms() {
  std::string text;
  for (const DatasetFormat& format : dataset_format_table().all())
    text += fmt::format("{}{}:{}#17", text.empty() ? "" : ", ", format.name, format.what_one);
  return text;
}

}  // namespace driftscope
