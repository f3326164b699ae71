// seed:42: inputs that make sense for the model, random otherwise. Item i has the seed 42 + i, so that each
// can be had alone.
#include <fmt/format.h>

#include <charconv>

#include "core/inputs/found_inputs.hpp"
#include "core/inputs/input_source.hpp"

namespace driftscope::input_sources::seed {
namespace {

constexpr std::string_view prefix = "seed:";

class Seeds final : public InputSource {
 public:
  Seeds(std::uint64_t seed, const InputSite& site) : seed_(seed), graph_(*site.graph), model_(site.model) {}

  [[nodiscard]] std::string text() const override { return named(seed_); }
  [[nodiscard]] std::optional<std::int64_t> size() const override { return std::nullopt; }
  [[nodiscard]] Result<InputItem> item(std::int64_t i) const override {
    if (i < 0) return bad_input(fmt::format("{}: item {} does not exist", text(), i));
    const std::uint64_t seed = seed_ + static_cast<std::uint64_t>(i);
    DRIFTSCOPE_TRY(FoundInputs found, found_inputs(graph_, seed, model_));
    std::string text = found.chosen.text;
    return InputItem{std::move(found.tensors), std::move(text), "", std::move(found.chosen)};
  }

 private:
  static std::string named(std::uint64_t seed) { return fmt::format("{}{} (random)", prefix, seed); }
  std::uint64_t seed_;
  const Graph& graph_;
  std::string model_;
};

Result<std::uint64_t> parse_seed(std::string_view text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    return bad_input(fmt::format("--input seed:{}: a whole number is needed, as in seed:42", text));
  return seed;
}

}  // namespace

void add_to(InputSourceTable& table) {
  table.add(
      {.order = 10,
       .form = "seed:42",
       .accepts = [](const std::string& spec, const InputSite&) { return spec.starts_with(prefix); },
       .open = [](const std::string& spec, const InputSite& site) -> Result<std::unique_ptr<InputSource>> {
         const std::string_view digits = std::string_view(spec).substr(prefix.size());
         DRIFTSCOPE_TRY(const std::uint64_t seed, parse_seed(digits));
         return std::unique_ptr<InputSource>(new Seeds(seed, site));
       }});
}

}  // namespace driftscope::input_sources::seed
