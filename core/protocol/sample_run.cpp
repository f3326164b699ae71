#include "core/protocol/sample_run.hpp"

#include <fmt/format.h>

#include <cstring>

#include "core/platform/platform.hpp"

namespace driftscope {

Result<NamedInputs> slice_sample(const NamedInputs& stacked, std::int64_t sample) {
  NamedInputs inputs;
  for (const NamedTensor& input : stacked) {
    const Shape& whole = input.tensor.shape();
    const Shape shape(whole.begin() + 1, whole.end());
    const std::size_t size = input.tensor.bytes().size() / static_cast<std::size_t>(whole[0]);
    const auto bytes = input.tensor.bytes().subspan(static_cast<std::size_t>(sample) * size, size);
    DRIFTSCOPE_TRY(Tensor tensor, Tensor::from_bytes(input.tensor.dtype(), shape, bytes, input.name));
    inputs.push_back({input.name, std::move(tensor)});
  }
  return inputs;
}

SampleRun::SampleRun(std::shared_ptr<const Graph> graph, Session& session, NamedInputs stacked,
                     std::int64_t samples)
    : graph_(std::move(graph)),
      session_(session),
      stacked_(std::move(stacked)),
      samples_(samples),
      times_(graph_->nodes.size()) {}

Status SampleRun::start_sample() {
  DRIFTSCOPE_TRY(const NamedInputs sample, slice_sample(stacked_, sample_));
  DRIFTSCOPE_TRY(BoundInputs bound, bind_inputs(*graph_, sample));
  DRIFTSCOPE_CHECK(session_.start(std::move(bound.inputs), *this));
  running_ = true;
  return {};
}

Status SampleRun::end_sample() {
  DRIFTSCOPE_TRY(const std::vector<Tensor> outputs, session_.finish());
  running_ = false;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = graph_->values[graph_->outputs[i]].name;
    if (sample_ == 0) {
      Shape shape = outputs[i].shape();
      shape.insert(shape.begin(), samples_);
      DRIFTSCOPE_TRY(Tensor whole, Tensor::make(outputs[i].dtype(), shape, name));
      outputs_.push_back({name, std::move(whole)});
    }
    Tensor& whole = outputs_[i].tensor;
    const auto part = outputs[i].bytes();
    const auto expected = whole.bytes().size() / static_cast<std::size_t>(samples_);
    if (part.size() != expected || outputs[i].dtype() != whole.dtype())
      return unsupported(fmt::format("output {}: sample {} has another shape ({}) than the first", name,
                                     sample_, shape_text(outputs[i].shape())));
    if (!part.empty())
      std::memcpy(whole.mutable_bytes().data() + static_cast<std::size_t>(sample_) * expected, part.data(),
                  part.size());
  }
  ++sample_;
  return {};
}

Result<Progress> SampleRun::poll(std::int64_t budget_ns) {
  const std::int64_t begin = monotonic_ns();
  Progress progress{0, static_cast<std::int64_t>(graph_->nodes.size())};
  while (sample_ < samples_) {
    const std::int64_t left = budget_ns - (monotonic_ns() - begin);
    if (left <= 0 && progress.done > 0) break;
    if (!running_) DRIFTSCOPE_CHECK(start_sample());
    DRIFTSCOPE_TRY(progress, session_.poll(left));
    if (progress.waiting) break;
    if (!progress.finished()) continue;
    DRIFTSCOPE_CHECK(end_sample());
  }
  return progress;
}

}  // namespace driftscope
