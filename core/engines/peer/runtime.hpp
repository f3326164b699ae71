// Third-party runtimes ("peers") as their engines see them: asynchronous, loaded on first
// use. Natively one is driven by native/peers/NAME, or its JavaScript by native/peers/node; in a browser by
// web/peers/bridge.cpp, the same for all, and web/peers/NAME/NAME.mjs in the same worker. Clients:
// peer_engine.cpp, session.cpp, those.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/convert/converted_model.hpp"
#include "core/engines/peer/release.hpp"
#include "core/model/graph_outputs.hpp"
#include "core/model/model.hpp"
#include "core/model/model_source.hpp"
#include "core/runtime/engine.hpp"

namespace driftscope::peer {

/// The form in which a runtime gets a model.
enum class Takes {
  source,  ///< the user's own bytes, so that the result is about the user's model and not our reading of it
  graph,   ///< our graph, for a runtime whose models are built by calls
  converted,  ///< our graph in the runtime's own format: PeerInfo::convert
};

/// A peer in browsers.
struct InBrowsers {
  std::string title;                ///< "ONNX Runtime Web"
  std::string package;              ///< as npm calls it, for messages
  std::vector<DType> lacking = {};  ///< tensor types that it lacks
  std::string hides_rewritten;      ///< why it cannot return the model as it rewrote it; empty: it can
};

/// A peer as its engine.cpp describes it; static.
struct PeerInfo {
  EngineInfo engine;
  std::string title;    ///< "ONNX Runtime", for messages
  std::string version;  ///< the one that both builds are pinned to
  Takes takes = Takes::source;
  /// Options that turn rewriting off: for a model that it has rewritten before.
  std::map<std::string, std::string> without_rewriting = {};
  /// Whether the output of this node of a rewritten model is in ONNX's order. Null: always.
  bool (*in_onnx_layout)(const OutlineNode& node) = nullptr;
  InBrowsers in_browsers = {};
  Releases releases = {};
  bool wants_types = false;              ///< outputs that are added must say their type and shape
  convert::Converter convert = nullptr;  ///< with Takes::converted
  /// Whether a model can return only what was made its output when it was written: then untraced runs use a
  /// model with only the graph's outputs.
  bool fixed_outputs = false;
  /// On the PC its JavaScript runs in a Node process (native/peers/node).
  bool under_node = false;
  /// Captured values that one run may return; more are captured in several runs.
  std::int64_t capture_bytes = std::int64_t{256} << 20;
};

/// How long a runtime may take to load a model, or to run it; every peer has it. (A call that blocks, as of
/// ONNX Runtime on the PC, cannot be given up.)
[[nodiscard]] EngineOption timeout_option();

struct CreateRequest {
  /// With Takes::source; only needed until create returns.
  std::span<const std::byte> model;
  std::shared_ptr<const ModelSource> source;  ///< external data
  /// With Takes::graph and Takes::converted; all values to capture are among its outputs.
  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const convert::ConvertedModel> converted;  ///< with Takes::converted
  int threads = 1;
  /// The target's, of which the runtime picks its own; those with EngineInfo::options values are always set.
  std::map<std::string, std::string> options = {};
  bool keep_rewritten = false;  ///< for RuntimeModel::rewritten
};

/// A finished run.
struct RunResult {
  /// In the order asked for. One without a dtype: the runtime made something that no tensor here can hold.
  std::vector<NamedTensor> values;
  std::int64_t time_ns = 0;  ///< of the runtime alone
  /// Of single nodes in ns, by the name of a value that they make; where the runtime has them.
  std::vector<std::pair<std::string, std::int64_t>> times;
};

/// A value that a run will return, as far as that is known before.
struct ExpectedValue {
  std::string name;
  DType dtype = DType::undefined;
  Shape shape;
};

/// One model in a runtime. In a browser everything but the constructor's work is asynchronous: ready
/// and result say "not yet" until the event loop has run.
class RuntimeModel {
 public:
  virtual ~RuntimeModel() = default;
  [[nodiscard]] virtual Result<bool> ready() = 0;
  /// Begins a run of a model that is ready. The tensors are borrowed until it has finished. `timed`: times of
  /// single nodes are wanted, even where that takes longer.
  [[nodiscard]] virtual Status run(std::span<const NamedTensor> inputs, std::span<const std::string> outputs,
                                   bool timed) = 0;
  [[nodiscard]] virtual Result<std::optional<RunResult>> result() = 0;
  /// Makes room for these values of the next run outside of memory. False: it has none, so that a run may not
  /// return too many at once.
  [[nodiscard]] virtual bool reserve(std::span<const ExpectedValue> /*values*/) { return false; }
  /// With keep_rewritten: the model as the runtime has rewritten it, possibly with its own operators.
  [[nodiscard]] virtual Result<std::vector<std::byte>> rewritten() = 0;
  /// If it has a heap of its own.
  [[nodiscard]] virtual std::optional<MemorySample> memory() const { return std::nullopt; }
  /// What ran, once ready: instruction set, actual threads, and any other facts known.
  virtual void describe(RanWith& ran) const = 0;
  /// After "not yet": waits, but not for long. False: only the event loop of this thread can help.
  [[nodiscard]] virtual bool wait() { return false; }
};

class Runtime {
 public:
  virtual ~Runtime() = default;
  [[nodiscard]] virtual Availability available() const = 0;
  /// Why it cannot return the model as it rewrote it; empty: it can.
  [[nodiscard]] virtual std::string hides_rewritten() const = 0;
  /// Why tensors of this type cannot be exchanged with the runtime; empty: they can.
  [[nodiscard]] virtual std::string lacks(DType dtype) const = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<RuntimeModel>> create(const CreateRequest& request) const = 0;
};

/// The runtime of this build for a peer; if the build has none, one that is not available.
[[nodiscard]] const Runtime& runtime_of(const PeerInfo& peer);

/// An error in the runtime's own words, attributed to it.
[[nodiscard]] Error said(const PeerInfo& peer, ErrorKind kind, std::string_view what);

}  // namespace driftscope::peer
