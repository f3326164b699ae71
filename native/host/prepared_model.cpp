#include "native/host/prepared_model.hpp"

#include <fmt/format.h>

#include <new>

#include "core/platform/platform.hpp"
#include "core/protocol/run.hpp"
#include "core/protocol/sample_run.hpp"
#include "native/host/service_run.hpp"

namespace driftscope {
namespace {

std::vector<std::pair<std::string, Shape>> sample_shapes(const NamedInputs& stacked) {
  std::vector<std::pair<std::string, Shape>> shapes;
  for (const NamedTensor& input : stacked) {
    const Shape& all = input.tensor.shape();
    shapes.emplace_back(input.name, all.empty() ? all : Shape(all.begin() + 1, all.end()));
  }
  return shapes;
}

Status expect_samples(const RunRequest& request) {
  const std::int64_t samples = request.plan.samples.value_or(0);
  if (samples < 1) return internal_error("a model stays prepared for samples, and the run has none");
  for (const NamedTensor& input : request.inputs)
    if (input.tensor.shape().empty() || input.tensor.shape()[0] != samples)
      return bad_input(fmt::format("input {}: expected a leading axis of {} samples, got {}", input.name,
                                   samples, shape_text(input.tensor.shape())));
  return {};
}

Error out_of_memory() {
  return limit_error("out of memory; the model or its values are too large for this host");
}

}  // namespace

PreparedModel::PreparedModel(const RunRequest& request, Target target)
    : target_(std::move(target)),
      model_sha256_(request.model->sha256),
      shapes_(sample_shapes(request.inputs)),
      load_(load_request(*request.model, target_)) {}

Result<std::unique_ptr<PreparedModel>> PreparedModel::prepare(const RunRequest& request, const Target& target,
                                                              const TargetProgress& progress) {
  DRIFTSCOPE_CHECK(expect_samples(request));
  progress("loading the model", 0, 0);
  try {
    std::unique_ptr<PreparedModel> made(new PreparedModel(request, target));
    DRIFTSCOPE_CHECK(made->load(request));
    return made;
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

Status PreparedModel::load(const RunRequest& request) {
  ByteSource bytes;
  bytes.size = static_cast<std::uint64_t>(load_.head.outside.value_or(0));
  bytes.read = [this](std::uint64_t offset, std::span<std::byte> target) { load_.read(offset, target); };
  bytes.in_place = [this](std::uint64_t offset, std::uint64_t count, std::size_t behind) {
    return load_.in_place(offset, count, behind);
  };
  DRIFTSCOPE_TRY(LoadedModel model, load_model(load_.head, bytes, true));
  DRIFTSCOPE_TRY(const NamedInputs first, slice_sample(request.inputs, 0));
  DRIFTSCOPE_TRY(BoundInputs bound, bind_model(model, first));
  graph_ = without_weights(*bound.graph);
  const RecordOptions outputs{.capture = Capture::outputs};
  DRIFTSCOPE_TRY(session_, prepare_session(target_, {{"host", target_.host}}, model, std::move(bound.graph),
                                           outputs, false));
  return {};
}

bool PreparedModel::fits(const RunRequest& request) const {
  return request.model->sha256 == model_sha256_ && sample_shapes(request.inputs) == shapes_;
}

Result<Trace> PreparedModel::run(const RunRequest& request, const TargetProgress& progress) {
  DRIFTSCOPE_CHECK(expect_samples(request));
  constexpr std::int64_t slice_ns = 100'000'000;
  const std::int64_t samples = *request.plan.samples;
  const double start = wall_clock_seconds();
  try {
    SampleRun run(graph_, *session_, request.inputs, samples);
    while (run.finished_samples() < samples) {
      if (request.stopped && request.stopped()) return Error{ErrorKind::cancelled, "stopped"};
      DRIFTSCOPE_TRY([[maybe_unused]] const Progress now, run.poll(slice_ns));
      progress(running_step, run.finished_samples(), samples);
    }
    Trace trace;
    trace.model_sha256 = model_sha256_;
    trace.target = target_.text();
    trace.run = merge_run(describe_run(*session_, start), {{"host", target_.host}}, target_);
    trace.tensors = run.take_outputs();
    return trace;
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

}  // namespace driftscope
