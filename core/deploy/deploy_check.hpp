// What keeps a model or a page from working well where it is deployed. Each check is a file in checks/:
// FOO.cpp defines `void driftscope::deploy_checks::foo::add_to(DeployCheckTable&)`; the table is generated
// from the folder at configure time. A check is a pure function of the context: files and responses are read,
// and targets run, before (native/http, native/host, native/compare). The classes of problems are those of
// Chen et al., "A comprehensive study on challenges in deploying deep learning based software" (FSE 2020).
// Client: driftscope doctor.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/deploy/deploy_runs.hpp"
#include "core/deploy/page.hpp"
#include "core/graph/graph.hpp"
#include "core/inputs/found_sizes.hpp"
#include "core/runtime/engine.hpp"

namespace driftscope {

enum class DeploySeverity {
  error,    ///< it does not work there
  warning,  ///< it works slowly, for some users only, or gives other results
  note,     ///< worth knowing; nothing to repair
};
[[nodiscard]] std::string_view severity_name(DeploySeverity severity);

struct DeployFinding {
  std::string check = {};  ///< name of the check; filled in by check_deployment
  DeploySeverity severity = DeploySeverity::warning;
  std::string where = {};                 ///< a node, value, file or URL
  std::int64_t count = 1;                 ///< places like this one; `where` is the first
  std::vector<std::string> targets = {};  ///< concerned; empty: wherever it runs
  std::string shows;                      ///< what happens, as users see it
  std::string why;
  std::string fix;
};

/// Where the model is to run. `host` "pc", or what is taken for a browser.
struct DeployTarget {
  std::string name;
  std::string host;
  const Engine* engine = nullptr;  ///< never null
  /// What the engine said when it was given the whole model: for a runtime that accepts or rejects a model
  /// as a whole. Nothing: it accepted, or was not asked.
  std::optional<std::string> refusal = {};

  [[nodiscard]] bool in_browser() const { return host != "pc" && host != "node"; }
};

/// A file that the model names as external data.
struct ExternalFile {
  std::string location;
  std::string problem = {};  ///< why it cannot be read; empty: it is there
};

struct DeployModel {
  std::string name;
  Graph graph;  ///< as in the file: symbolic dimensions unbound, shapes inferred
  /// With ordinary sizes for what the model leaves open, or the sizes that the user gave.
  std::optional<FoundSizes> sizes = {};
  std::string no_sizes = {};  ///< why there are none
  std::int64_t file_bytes = 0;
  std::vector<ExternalFile> external = {};
  std::string preprocess_name = {};  ///< of the description, whether or not it is there
  std::optional<std::string> preprocess_json = {};

  /// Bound where sizes are known.
  [[nodiscard]] const Graph& best_graph() const { return sizes ? sizes->bound : graph; }
};

/// What counts as too much.
struct DeployLimits {
  double megabits_per_second = 10;
  double start_seconds = 10;  ///< of a cold start, as far as the network decides
};

struct DeployContext {
  const DeployModel* model = nullptr;  ///< null: only a page
  std::vector<DeployTarget> targets = {};
  const DeployPage* page = nullptr;  ///< null: only a model
  const DeployRuns* runs = nullptr;  ///< null: nothing ran
  DeployLimits limits = {};

  [[nodiscard]] bool in_browsers() const;
};

struct DeployCheck {
  std::string_view name;
  std::string_view about;  ///< one line for people: what it looks for
  bool of_model = true;    ///< else of the page; called only where there is one
  std::vector<DeployFinding> (*find)(const DeployContext& context);
};

class DeployCheckTable {
 public:
  void add(DeployCheck check) { checks_.push_back(check); }
  [[nodiscard]] std::span<const DeployCheck> all() const { return checks_; }
  [[nodiscard]] const DeployCheck* find(std::string_view name) const;

 private:
  std::vector<DeployCheck> checks_;
};
/// All of this build (generated: build/generated/deploy_check_registry.cpp).
[[nodiscard]] const DeployCheckTable& deploy_check_table();

/// The findings of all checks that apply: errors first, then in the order of the checks.
[[nodiscard]] std::vector<DeployFinding> check_deployment(const DeployContext& context);

/// For a terminal: grouped by severity, what shows, why and the fix of each; "no findings" without any.
[[nodiscard]] std::string deployment_text(std::span<const DeployFinding> findings);

}  // namespace driftscope
