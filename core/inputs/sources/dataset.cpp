// idx:IMAGES,LABELS and the like: all samples of a data set, or with #17 one of them.
#include <fmt/format.h>

#include "core/dataset/dataset_format.hpp"
#include "core/inputs/input_source.hpp"

namespace driftscope::input_sources::dataset {
namespace {

/// The last part of a path, also of one that ends in a slash.
std::string_view base_name(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos || path.size() == 1 ? path : path.substr(slash + 1);
}

class Samples final : public InputSource {
 public:
  Samples(std::string spec, const DatasetSpec& parsed, Dataset set)
      : spec_(std::move(spec)), parsed_(parsed), set_(std::move(set)) {}

  [[nodiscard]] std::string text() const override {
    return parsed_.sample ? spec_ : fmt::format("{}, {} samples", base_name(parsed_.images), set_.size());
  }
  [[nodiscard]] std::optional<std::int64_t> size() const override { return parsed_.sample ? 1 : set_.size(); }
  [[nodiscard]] Result<InputItem> item(std::int64_t i) const override {
    if (parsed_.sample && i != 0) return bad_input(fmt::format("{}: item {} does not exist", spec_, i));
    const std::int64_t at = parsed_.sample.value_or(i);
    DRIFTSCOPE_TRY(NamedTensor sample, set_.sample(at));
    return InputItem{
        {std::move(sample)}, parsed_.sample ? spec_ : fmt::format("{}#{}", spec_, at), set_.label_text(at)};
  }
  [[nodiscard]] std::span<const std::int64_t> labels() const override {
    if (!parsed_.sample || set_.labels().empty()) return set_.labels();
    return std::span(set_.labels()).subspan(static_cast<std::size_t>(*parsed_.sample), 1);
  }
  [[nodiscard]] std::vector<std::string> class_names() const override { return set_.class_names(); }

 private:
  std::string spec_;
  DatasetSpec parsed_;
  Dataset set_;
};

Result<std::unique_ptr<InputSource>> open(const std::string& spec, const InputSite& site) {
  DRIFTSCOPE_TRY(const DatasetSpec parsed, parse_dataset_spec(spec));
  DRIFTSCOPE_TRY(InputSite::Samples samples, site.samples());
  DRIFTSCOPE_TRY(Dataset set, Dataset::open(parsed, std::move(samples.how), samples.files));
  if (parsed.sample && *parsed.sample >= set.size()) return set.sample(*parsed.sample).held();
  return std::unique_ptr<InputSource>(new Samples(spec, parsed, std::move(set)));
}

}  // namespace

void add_to(InputSourceTable& table) {
  table.add({.order = 20,
             .form = sample_forms(),
             .accepts = [](const std::string& spec, const InputSite&) { return is_dataset_spec(spec); },
             .open = open});
}

}  // namespace driftscope::input_sources::dataset
