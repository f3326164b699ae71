// A model that stays prepared in this process, for many runs of samples: neither loading nor preparing is
// repeated. It runs what the service runs (core/protocol/run.hpp) and records outputs alone. Client: the host
// pc.
#pragma once

#include <memory>
#include <string>

#include "core/protocol/load.hpp"
#include "core/runtime/engine.hpp"
#include "native/host/host.hpp"
#include "native/host/load_request.hpp"

namespace driftscope {

class PreparedModel {
 public:
  /// For samples as those of the request, of which there is at least one.
  [[nodiscard]] static Result<std::unique_ptr<PreparedModel>> prepare(const RunRequest& request,
                                                                      const Target& target,
                                                                      const TargetProgress& progress);

  /// The request has the same model, and samples of the same shapes.
  [[nodiscard]] bool fits(const RunRequest& request) const;

  /// The trace holds the outputs, with a leading axis of samples. After an error it must not run again.
  [[nodiscard]] Result<Trace> run(const RunRequest& request, const TargetProgress& progress);

 private:
  PreparedModel(const RunRequest& request, Target target);
  [[nodiscard]] Status load(const RunRequest& request);

  Target target_;
  std::string model_sha256_;
  std::vector<std::pair<std::string, Shape>> shapes_;  // of a sample, by input
  LoadRequest load_;                                   // must outlive the graph, which may read from it
  std::shared_ptr<const Graph> graph_;
  std::unique_ptr<Session> session_;
};

}  // namespace driftscope
