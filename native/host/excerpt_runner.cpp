#include "native/host/excerpt_runner.hpp"

#include "core/graph/graph_model.hpp"
#include "core/model/onnx_writer.hpp"
#include "core/verify/verify.hpp"

namespace driftscope {

Result<LayerVerdict> ExcerptRunner::run(Excerpt& excerpt) {
  DRIFTSCOPE_TRY(const Model made, model_of(excerpt.graph));
  DRIFTSCOPE_TRY(std::vector<std::byte> bytes, write_onnx(made));
  DRIFTSCOPE_TRY(const ModelFile model,
                 load_model_bytes("model.onnx", "model.onnx", SharedBytes(std::move(bytes)), {}));
  RunRequest request;
  request.model = &model;
  request.inputs = excerpt.inputs;
  request.plan.capture = messages::Capture::outputs;
  DRIFTSCOPE_TRY(Trace trace, runner_.run(target_, request, progress_));
  for (const NamedTensor& input : excerpt.inputs)
    if (trace.find(input.name) == nullptr) trace.tensors.push_back(input);
  trace.model_sha256.clear();
  about_.target = trace.target;
  about_.run = trace.run;
  const Tensor* const y = trace.find(excerpt.got.name);
  if (y == nullptr) return unsupported("the target gave no output for the part of the model alone");
  excerpt.got.tensor = *y;
  DRIFTSCOPE_TRY(Verification verification, verify(excerpt.graph, "", trace, threads_));
  for (LayerVerdict& layer : verification.layers) {
    if (layer.output != excerpt.got.name) continue;
    layer.node = excerpt.verdict.node;
    excerpt.verdict = std::move(layer);
    return excerpt.verdict;
  }
  return unsupported("the part of the model alone cannot be judged");
}

}  // namespace driftscope
