// ONNX Runtime as the engine needs it. Each platform has its own: native/peers/ort drives the shared library
// through its C API, web/peers/ort hands bytes to onnxruntime-web in the same worker. Client: engines/ort.
// Nothing here knows graphs: models are bytes, values go by name.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/model.hpp"
#include "core/model/model_source.hpp"
#include "core/runtime/engine.hpp"

namespace driftscope::ort {

/// How far ONNX Runtime may rewrite the model: its GraphOptimizationLevel.
enum class Optimization { none, basic, extended, all };

struct CreateRequest {
  std::span<const std::byte> model;           ///< may go once create has returned
  std::shared_ptr<const ModelSource> source;  ///< external data
  Optimization optimization = Optimization::all;
  int threads = 1;
  /// Entries of ONNX Runtime's session configuration (onnxruntime_session_options_config_keys.h), which
  /// ignores those that it does not know.
  std::map<std::string, std::string> config = {};
  bool keep_optimized = false;  ///< for RuntimeModel::optimized
};

/// A finished run.
struct RunResult {
  std::vector<NamedTensor> values;  ///< in the order asked for
  std::int64_t time_ns = 0;         ///< of ONNX Runtime alone
};

/// One model in ONNX Runtime. In a browser everything but the constructor's work is asynchronous: ready
/// and result say "not yet" until the event loop has run.
class RuntimeModel {
 public:
  virtual ~RuntimeModel() = default;
  [[nodiscard]] virtual Result<bool> ready() = 0;
  /// Begins a run of a model that is ready. The tensors are borrowed until it has finished.
  [[nodiscard]] virtual Status run(std::span<const NamedTensor> inputs,
                                   std::span<const std::string> outputs) = 0;
  [[nodiscard]] virtual Result<std::optional<RunResult>> result() = 0;
  /// With keep_optimized: the model as ONNX Runtime has rewritten it, in its own operators as well.
  [[nodiscard]] virtual Result<std::vector<std::byte>> optimized() = 0;
  [[nodiscard]] virtual std::optional<MemorySample> memory() const { return std::nullopt; }
  /// What ran, once ready: instruction set, real threads, and what else the platform knows.
  virtual void describe(RanWith& ran) const = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual Availability available() const = 0;
  /// Why it cannot show the optimised model; empty: it can.
  [[nodiscard]] virtual std::string hides_optimized() const = 0;
  /// Why tensors of this type cannot pass between us and ONNX Runtime here; empty: they can.
  [[nodiscard]] virtual std::string lacks(DType dtype) const = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<RuntimeModel>> create(const CreateRequest& request) const = 0;
};

/// The backend of this platform.
[[nodiscard]] const Backend& backend();

/// The version that both twins are pinned to (package.json).
[[nodiscard]] std::string_view expected_version();

/// An error in ONNX Runtime's own words, attributed to it.
[[nodiscard]] Error said(ErrorKind kind, std::string_view what);

}  // namespace driftscope::ort
