// Where the inputs of runs come from: a seed, a file, the samples of a data set. A kind of source is a file
// in sources/: each FOO.cpp defines `void driftscope::input_sources::foo::add_to(InputSourceTable&)`; the
// table is generated from the folder at configure time, never edited. Clients: --input and --dataset,
// campaigns. A source reads no files itself and knows no targets: it asks its site.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/dataset/dataset.hpp"
#include "core/graph/graph.hpp"
#include "core/inputs/chosen_inputs.hpp"
#include "core/runtime/bind_inputs.hpp"

namespace driftscope {

/// What sources ask of the place where they are. The graph must outlive them.
struct InputSite {
  const Graph* graph = nullptr;  ///< the model whose inputs are wanted, with the sizes that the user gave
  std::string model = "MODEL";   ///< its file, for a command that an error shows
  FileAccess files;
  std::function<bool(const std::string& path)> is_folder;
  /// What the model's preprocess.json says, and the files as it may read them.
  struct Samples {
    SampleDescription how;
    FileAccess files;
    std::string described_by;  ///< in errors: the description's path
  };
  std::function<Result<Samples>()> samples;
};

/// The inputs of one run.
struct InputItem {
  NamedInputs tensors;                      ///< a single one may have the name "": the model's only input
  std::string text;                         ///< how users read it: "seed:42 (random)", "idx:IMAGES,LABELS#7"
  std::string label_text;                   ///< the class of a sample, when it is known
  std::optional<ChosenInputs> chosen = {};  ///< of inputs that nobody gave
};

/// Item i is the same whenever and wherever it is asked for.
class InputSource {
 public:
  virtual ~InputSource() = default;
  /// How users read it: "digits.idx, 200 samples".
  [[nodiscard]] virtual std::string text() const = 0;
  /// Nothing: there is an item for every number.
  [[nodiscard]] virtual std::optional<std::int64_t> size() const { return 1; }
  /// 0 ≤ i < size(), else an error.
  [[nodiscard]] virtual Result<InputItem> item(std::int64_t i) const = 0;
  /// The classes of all items by number, or none; and their names, where they have any.
  [[nodiscard]] virtual std::span<const std::int64_t> labels() const { return {}; }
  [[nodiscard]] virtual std::vector<std::string> class_names() const { return {}; }
};

/// `count` items from `first` on as one run: each tensor with a new leading axis. Errors: items that differ
/// in names, types or shapes, types of less than a byte, no items.
[[nodiscard]] Result<NamedInputs> stacked_items(const InputSource& source, std::int64_t first,
                                                std::int64_t count);
/// Those of a stack at these places, which exist, as a stack.
[[nodiscard]] Result<NamedInputs> chosen_items(const NamedInputs& stacked,
                                               std::span<const std::int64_t> places);

struct InputSourceKind {
  int order = 50;    ///< asked in this order: the first that accepts a spec has it
  std::string form;  ///< how one looks, for errors: "seed:42"
  std::function<bool(const std::string& spec, const InputSite& site)> accepts;
  std::function<Result<std::unique_ptr<InputSource>>(const std::string& spec, const InputSite& site)> open;
};

class InputSourceTable {
 public:
  void add(InputSourceKind kind);
  [[nodiscard]] std::span<const InputSourceKind> all() const { return kinds_; }

 private:
  std::vector<InputSourceKind> kinds_;
};

/// All of this build (generated: build/generated/input_source_registry.cpp).
[[nodiscard]] const InputSourceTable& input_source_table();

/// The source that a spec names. The error lists the kinds that there are.
[[nodiscard]] Result<std::unique_ptr<InputSource>> open_input_source(const std::string& spec,
                                                                     const InputSite& site);

/// A source of one item that is known already.
[[nodiscard]] std::unique_ptr<InputSource> single_item(InputItem item);

/// "input, mask": the names of the model's inputs, in errors.
[[nodiscard]] std::string input_names(const Graph& graph);
[[nodiscard]] bool is_input(const Graph& graph, std::string_view name);

}  // namespace driftscope
