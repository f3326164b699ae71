// Runtimes for which reports are written: a page or a script on the plain runtime, and its makers' form of
// issues. A runtime is a file in runtimes/: each FOO.cpp defines `void
// driftscope::repro::foo::add_to(RuntimeTable&)`; the table is generated from the folder at configure time,
// never edited. Client: report_files.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/convert/converted_model.hpp"
#include "core/repro/excerpt.hpp"
#include "core/repro/parameter_table.hpp"

namespace driftscope::repro {

/// What a report says of the run.
struct Facts {
  std::string target;   ///< "chrome/ort-webgpu"
  std::string host;     ///< "chrome", "pc"
  std::string engine;   ///< "ort-webgpu"
  std::string module;   ///< the file that a page imports, without a folder; empty on the PC
  std::string version;  ///< of the runtime
  std::string browser;  ///< with its version; empty on the PC
  std::string device;   ///< of the GPU or processor, as the trace says
  std::string system;   ///< operating system
  std::map<std::string, std::string> options = {};  ///< of the target
  std::string calls = {};  ///< JavaScript that builds the graph, of a runtime whose models are built by calls
};

/// What a report is made of.
struct Report {
  const Excerpt& one;
  const Facts& facts;
  convert::ConvertedModel own = {};  ///< in the runtime's format, where it does not read ONNX
  std::optional<ParameterTable> table = {};
};

/// A file of the folder.
struct File {
  std::string name;
  std::vector<std::byte> bytes;
};

/// A folder of an npm package: the page asks for `path`, where npm installs it; the files are those of the
/// site, some under other names.
struct Installed {
  std::string_view path;  ///< below the folder: "node_modules/onnxruntime-web/dist"
  std::vector<std::pair<std::string_view, std::string_view>> renamed = {};  ///< npm's name, the site's
};

struct Runtime {
  std::vector<std::string_view> engines;
  std::string_view project;               ///< as its makers call it
  std::string_view model = "model.onnx";  ///< the file that the page runs; empty: the page builds it
  /// Tags before the page's script: scripts, an import map.
  std::string (*page_head)(const Report& report) = nullptr;
  /// The page's module script that runs the model and calls report(data); nothing: it has no page.
  std::optional<std::string> (*page_script)(const Report& report) = nullptr;
  /// What npm installs for the page: name and version.
  std::vector<std::pair<std::string, std::string>> (*packages)(const Facts& facts) = nullptr;
  std::vector<Installed> installed = {};
  /// Writes the model in its own format; null: it reads ONNX, or is built by calls.
  convert::Converter (*converter)(const Facts& facts) = nullptr;
  /// Files that the page reads as well. Errors: what is missing for them.
  Result<std::vector<File>> (*more_files)(const Report& report) = nullptr;
  /// A script for Python; nothing: it has none.
  std::optional<std::string> (*script)(const Report& report) = nullptr;
  std::string (*issue)(const Report& report) = nullptr;
};

class RuntimeTable {
 public:
  void add(Runtime runtime) { runtimes_.push_back(std::move(runtime)); }
  [[nodiscard]] std::span<const Runtime> all() const { return runtimes_; }

 private:
  std::vector<Runtime> runtimes_;
};

/// All of this build (generated: build/generated/repro_runtime_registry.cpp).
[[nodiscard]] const RuntimeTable& runtime_table();

/// Errors: none for this engine, with those that there are.
[[nodiscard]] Result<const Runtime*> runtime_for(const std::string& engine);

}  // namespace driftscope::repro
