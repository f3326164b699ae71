// The service's "compare" and "advance": a comparison whose runs happen elsewhere, as a page starts a worker
// for each. Their traces are processed by core/compare. Client: service.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "core/compare/comparison_run.hpp"
#include "core/protocol/load.hpp"

namespace driftscope {

class ServiceComparison final : private ComparisonHost, private ComparisonListener {
 public:
  /// The requests and their responses are declared in messages.json.
  [[nodiscard]] static Result<std::unique_ptr<ServiceComparison>> begin(const messages::Compare& request,
                                                                        const LoadedModel& model);
  struct Advanced {
    messages::AdvanceResponse head;
    std::string comparison;  ///< the response's payload
  };
  [[nodiscard]] Result<Advanced> advance(const messages::Advance& request,
                                         std::span<const std::byte> payload);

 private:
  struct Awaited;
  class Run;

  ServiceComparison(const LoadedModel& model, ComparisonPlan plan, int threads);

  [[nodiscard]] Status take_end_of_run(const messages::Advance& request, std::span<const std::byte> payload);
  [[nodiscard]] Result<std::unique_ptr<TargetRun>> start(const Target& target, RunPurpose purpose,
                                                         std::span<const std::int64_t> samples) override;
  [[nodiscard]] bool stopped() const override { return false; }  // to stop it, the service is ended
  void on_progress(std::size_t, ComparisonStage, std::string_view, std::int64_t, std::int64_t) override {}
  void on_verified(std::size_t target, const TargetResult& result) override;
  void on_result(std::size_t target) override;
  void report(std::size_t target, const TargetResult& result, bool done);

  std::shared_ptr<const Graph> graph_;
  ThreadPool threads_;
  std::shared_ptr<Awaited> awaited_;  // the run requested last
  std::int64_t last_run_ = 0;
  std::size_t next_target_ = 0;  // index of the current one
  Advanced answer_;
  ComparisonRun comparison_;  // refers to the members before it
};

}  // namespace driftscope
