#include "native/host/hunt_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

#include "core/hunt/input_search.hpp"
#include "core/hunt/probe.hpp"
#include "core/model/onnx_writer.hpp"
#include "core/model/tensor_elements.hpp"
#include "core/verify/top1.hpp"
#include "native/host/gradient_file.hpp"
#include "native/host/target_runner.hpp"
#include "native/host/targets.hpp"

namespace driftscope {
namespace {

class MadeGraphs final : public HuntCases {
 public:
  MadeGraphs(std::uint64_t seed, std::vector<std::string> families)
      : seed_(seed), families_(std::move(families)) {}

  Result<HuntCase> at(std::int64_t number) override {
    hunt::Probe probe = hunt::draw_probe(seed_, number, families_);
    DRIFTSCOPE_TRY(std::vector<std::byte> bytes, write_onnx(probe.model));
    DRIFTSCOPE_TRY(ModelFile model,
                   load_model_bytes("model.onnx", "model.onnx", SharedBytes(std::move(bytes)), {}));
    return HuntCase{.model = std::make_shared<ModelFile>(std::move(model)),
                    .inputs = std::move(probe.inputs),
                    .text = std::move(probe.text)};
  }
  bool small() const override { return true; }

 private:
  std::uint64_t seed_;
  std::vector<std::string> families_;
};

/// The two best classes of a row of scores.
struct BestTwo {
  std::int64_t first = 0;
  std::int64_t second = 0;
};

std::optional<BestTwo> best_two(const Tensor& scores) {
  const auto best = top1(scores);
  if (!best || best->size() != 1 || best->front() < 0 || scores.elements() < 2) return std::nullopt;
  BestTwo two{best->front(), -1};
  const auto values = scores.values<float>();
  for (std::int64_t i = 0; i < scores.elements(); ++i)
    if (i != two.first && !std::isnan(values[static_cast<std::size_t>(i)]) &&
        (two.second < 0 ||
         values[static_cast<std::size_t>(i)] > values[static_cast<std::size_t>(two.second)]))
      two.second = i;
  return two.second < 0 ? std::nullopt : std::optional(two);
}

class SearchedInputs final : public HuntCases {
 public:
  SearchedInputs(std::shared_ptr<const ModelFile> model, const NamedInputs& first, std::uint64_t seed)
      : model_(std::move(model)),
        first_(first),
        seed_(seed),
        search_(first, seed),
        runner_(RunnerOptions{}) {}

  Status open(const NamedInputs& first) {
    DRIFTSCOPE_TRY(const Trace trace, run(*model_, first, messages::Capture::outputs));
    const Tensor* const answer = answer_in(trace);
    if (answer == nullptr || !best_two(*answer)) return {};  // no classifier: no boundaries
    std::vector<const NamedTensor*> floating;
    for (const NamedTensor& input : first)
      if (input.tensor.dtype() == DType::float32) floating.push_back(&input);
    if (floating.size() != 1) return {};
    GradientRequest request{.of = "margin", .wrt = {floating.front()->name}};
    for (const ValueId id : model_->graph.inputs) {
      const auto given = std::ranges::find(first, model_->graph.values[id].name, &NamedTensor::name);
      if (given == first.end()) return {};
      request.input_shapes.push_back(given->tensor.shape());
    }
    auto gradient = gradient_file(*model_, request);
    if (!gradient.ok()) return {};  // an operator without a rule: the search does without
    gradient_ = *std::move(gradient);
    changed_ = floating.front()->name;
    return {};
  }

  Result<HuntCase> at(std::int64_t number) override {
    if (number < begin_) begin_again();
    while (begin_ + std::ssize(cases_) <= number) {
      DRIFTSCOPE_TRY(HuntCase one, make());
      bytes_ += bytes_of(one);
      cases_.push_back(std::move(one));
      for (; bytes_ > most_bytes && cases_.size() > 1; ++begin_) {
        bytes_ -= bytes_of(cases_.front());
        cases_.pop_front();
      }
    }
    return cases_[static_cast<std::size_t>(number - begin_)];
  }
  bool small() const override { return false; }

 private:
  /// Of inputs that are remembered: the next target asks for the same ones.
  static constexpr std::size_t most_bytes = std::size_t{1} << 28;
  /// Of so many cases one lies at a boundary between classes.
  static constexpr std::int64_t between_boundaries = 8;

  static std::size_t bytes_of(const HuntCase& one) {
    std::size_t bytes = 0;
    for (const NamedTensor& input : one.inputs) bytes += input.tensor.byte_size();
    return bytes;
  }

  void begin_again() {
    search_ = hunt::InputSearch(first_, seed_);
    since_boundary_ = begin_ = 0;
    bytes_ = 0;
    cases_.clear();
  }

  Result<Trace> run(const ModelFile& model, const NamedInputs& inputs, messages::Capture capture) {
    RunRequest request;
    request.model = &model;
    request.inputs = inputs;
    request.plan.capture = capture;
    request.plan.repeat = 1;
    return runner_.run({std::string(default_host()), "strict", {}}, request,
                       [](std::string_view, std::int64_t, std::int64_t) {});
  }

  [[nodiscard]] const Tensor* answer_in(const Trace& trace) const {
    const Graph& graph = model_->graph;
    return graph.outputs.empty() ? nullptr : trace.find(graph.values[graph.outputs.front()].name);
  }

  Result<std::optional<BestTwo>> answer_to(const NamedInputs& inputs) {
    DRIFTSCOPE_TRY(const Trace trace, run(*model_, inputs, messages::Capture::outputs));
    const Tensor* const answer = answer_in(trace);
    return answer == nullptr ? std::optional<BestTwo>() : best_two(*answer);
  }

  Result<HuntCase> make() {
    hunt::SearchedInput input = search_.next();
    if (gradient_ && ++since_boundary_ == between_boundaries) {
      since_boundary_ = 0;
      DRIFTSCOPE_CHECK(move_to_boundary(input));
    }
    DRIFTSCOPE_TRY(const Trace trace, run(*model_, input.tensors, messages::Capture::all));
    search_.take(input, hunt::states_of(trace));
    HuntCase one{.model = model_, .inputs = input.tensors, .text = input.text};
    if (const Tensor* const answer = answer_in(trace))
      if (const auto two = best_two(*answer)) one.answer = two->first;
    return one;
  }

  /// Along the gradient of the lead of the best class over the next one, until another class is the best;
  /// then halfway, as long as float32 tells the two apart. The input stays as it is where that fails.
  Status move_to_boundary(hunt::SearchedInput& input) {
    DRIFTSCOPE_TRY(const std::optional<BestTwo> two, answer_to(input.tensors));
    if (!two) return {};
    NamedInputs with_labels = input.tensors;
    for (const auto& [name, label] :
         {std::pair(gradient_label, two->first), std::pair(gradient_other, two->second)}) {
      DRIFTSCOPE_TRY(Tensor tensor, Tensor::from_values<std::int64_t>({1}, std::array{label}));
      with_labels.push_back({std::string(name), std::move(tensor)});
    }
    const auto ran = run(*gradient_, with_labels, messages::Capture::outputs);
    if (!ran.ok()) return {};  // the model has another batch than one
    const Tensor* const slope = ran->find("grad/" + changed_);
    const auto place = std::ranges::find(input.tensors, changed_, &NamedTensor::name);
    if (slope == nullptr || place == input.tensors.end()) return {};
    const std::vector<double> from = numbers_of(place->tensor), along = numbers_of(*slope);
    double square = 0.0;
    for (const double one : along) square += one * one;
    if (!(square > 0.0) || !std::isfinite(square)) return {};
    const auto at = [&](double step) -> Result<NamedInputs> {
      NamedInputs moved = input.tensors;
      DRIFTSCOPE_TRY(Tensor tensor, Tensor::make(DType::float32, place->tensor.shape()));
      const auto values = tensor.mutable_values<float>();
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(from[i] - step * along[i] / square);
      std::ranges::find(moved, changed_, &NamedTensor::name)->tensor = std::move(tensor);
      return moved;
    };
    double before = 0.0, behind = 0.01;
    constexpr int doublings = 16, halvings = 30;
    for (int i = 0;; ++i) {
      if (i == doublings) return {};
      DRIFTSCOPE_TRY(const NamedInputs moved, at(behind));
      DRIFTSCOPE_TRY(const auto answer, answer_to(moved));
      if (!answer) return {};
      if (answer->first != two->first) break;
      before = behind;
      behind *= 2.0;
    }
    for (int i = 0; i < halvings; ++i) {
      const double middle = 0.5 * (before + behind);
      DRIFTSCOPE_TRY(const NamedInputs moved, at(middle));
      DRIFTSCOPE_TRY(const auto answer, answer_to(moved));
      (answer && answer->first == two->first ? before : behind) = middle;
    }
    DRIFTSCOPE_TRY(input.tensors, at(behind));
    input.text += fmt::format(", moved to the boundary of class {}", two->first);
    return {};
  }

  std::shared_ptr<const ModelFile> model_;
  NamedInputs first_;
  std::uint64_t seed_;
  hunt::InputSearch search_;
  TargetRunner runner_;
  std::optional<ModelFile> gradient_;
  std::string changed_;  ///< the input along which the gradient goes
  std::int64_t since_boundary_ = 0;
  std::deque<HuntCase> cases_;
  std::int64_t begin_ = 0;  ///< the number of the first of them
  std::size_t bytes_ = 0;   ///< of all of them
};

}  // namespace

std::unique_ptr<HuntCases> made_graphs(std::uint64_t seed, std::vector<std::string> families) {
  return std::make_unique<MadeGraphs>(seed, std::move(families));
}

Result<std::unique_ptr<HuntCases>> searched_inputs(std::shared_ptr<const ModelFile> model,
                                                   const NamedInputs& first, std::uint64_t seed) {
  auto cases = std::make_unique<SearchedInputs>(std::move(model), first, seed);
  auto opened = cases->open(first);
  if (!opened.ok())
    return in_context(std::move(opened).error(), default_target("strict") + ", which guides the search");
  return std::unique_ptr<HuntCases>(std::move(cases));
}

}  // namespace driftscope
