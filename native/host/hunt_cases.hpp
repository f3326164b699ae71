// The cases of a hunt, by number: models that are made, or inputs for a given model. Client: hunt_run.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/runtime/bind_inputs.hpp"
#include "native/host/model_file.hpp"

namespace driftscope {

struct HuntCase {
  std::shared_ptr<const ModelFile> model;
  NamedInputs inputs;
  std::string text;                         ///< "Conv → Relu, of offset"
  std::optional<std::int64_t> answer = {};  ///< the class that pc/strict answers, of a given model
};

class HuntCases {
 public:
  virtual ~HuntCases() = default;
  /// The same number gives the same case, in whatever order they are asked for.
  [[nodiscard]] virtual Result<HuntCase> at(std::int64_t number) = 0;
  /// Whether every value that is wanted is an output already, so that many cases can run at a time.
  [[nodiscard]] virtual bool small() const = 0;
};

/// Graphs of these families (core/hunt/operators); empty: of all.
[[nodiscard]] std::unique_ptr<HuntCases> made_graphs(std::uint64_t seed, std::vector<std::string> families);

/// Inputs for a model, from `first` on. Errors: pc/strict cannot run it.
[[nodiscard]] Result<std::unique_ptr<HuntCases>> searched_inputs(std::shared_ptr<const ModelFile> model,
                                                                 const NamedInputs& first,
                                                                 std::uint64_t seed);

}  // namespace driftscope
