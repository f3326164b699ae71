// Traces as files and in kept comparisons, verified one after the other. Clients: the commands verify and
// explain.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/verify/answer_sensitivity.hpp"
#include "core/verify/external_budgets.hpp"
#include "core/verify/verify.hpp"
#include "native/cli/console.hpp"
#include "native/host/kept_file.hpp"

namespace driftscope {

/// A verdict, and the assumptions made for it.
struct VerifiedFile {
  Verification verification;
  Trace about;  // nodes and times, no tensors
};

/// A trace file, alone or in a kept comparison.
struct TraceToVerify {
  std::string name;
  std::span<const std::byte> bytes;
  std::function<void()> release = [] {};  ///< gives back the memory of what was read
};

/// MODEL and TRACE… of a command line: files, or kept comparisons with all their targets.
class NamedTraces {
 public:
  /// Without traces those of MODEL, if that is a kept comparison. `command`: for messages.
  [[nodiscard]] static Result<NamedTraces> open(std::string_view command, const std::string& model,
                                                std::vector<std::string> traces, int threads);

  [[nodiscard]] const GraphFile& model() const { return model_; }
  /// Calls `each` for every trace, and `fail` for each file that cannot be read.
  void for_each(const std::function<void(const TraceToVerify&)>& each,
                const std::function<void(const Error&)>& fail) const;
  /// Whether more than one file was named.
  [[nodiscard]] bool several() const { return paths_.size() > 1; }

 private:
  NamedTraces(std::optional<KeptFile> kept, GraphFile model, std::vector<std::string> paths)
      : kept_(std::move(kept)), model_(std::move(model)), paths_(std::move(paths)) {}
  [[nodiscard]] Status for_each_of(const std::string& path,
                                   const std::function<void(const TraceToVerify&)>& each) const;

  std::optional<KeptFile> kept_;  // of the model
  GraphFile model_;
  std::vector<std::string> paths_;
};

/// Calls `use` with a trace file, or with what `target` recorded in a kept comparison. Errors: those of
/// `use`; the comparison holds the runs of others.
[[nodiscard]] Status with_trace(const std::string& path, const std::string& target,
                                const std::function<Status(const TraceToVerify&)>& use);

/// A trace with its tensors, matched to the graph's names and types as verify does.
[[nodiscard]] Result<Trace> whole_trace(const Graph& graph, const TraceToVerify& given);

struct VerifyTraceOptions {
  const BudgetSuite* budgets = nullptr;  ///< to show beside the verdicts
  SensitivityWanted sensitivity = SensitivityWanted::never;
  std::optional<std::string> node = {};  ///< only this one
};

[[nodiscard]] Result<VerifiedFile> verify_trace(const GraphFile& model, const TraceToVerify& given,
                                                ThreadPool& threads, ProgressLine& line,
                                                const VerifyTraceOptions& options = {});

}  // namespace driftscope
