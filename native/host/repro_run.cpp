#include "native/host/repro_run.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "core/base/format.hpp"
#include "core/base/json.hpp"
#include "core/base/rng.hpp"
#include "core/engines/peer/peer_engine.hpp"
#include "core/model/element.hpp"
#include "core/model/tensor_elements.hpp"
#include "native/browser/launcher.hpp"
#include "native/host/excerpt_runner.hpp"
#include "native/http/folder_server.hpp"
#include "native/os/child_process.hpp"
#include "native/os/files.hpp"
#include "native/os/temp_folder.hpp"
#include "native/platform/cache_folder.hpp"
#include "native/platform/site.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

std::string system_text() {
  utsname name = {};
  return uname(&name) == 0 ? fmt::format("{} {}, {}", name.sysname, name.release, name.machine)
                           : std::string();
}

/// Of the options of runtimes whose models are built by calls: the trace then has these in its place.
constexpr const char* calls_option = "calls";

bool keeps_calls(const Engine& engine) {
  return std::ranges::find(engine.info().options, calls_option, &EngineOption::name) !=
         engine.info().options.end();
}

Target with_calls(Target target) {
  const auto engine = find_engine(target.engine);
  if (engine.ok() && keeps_calls(**engine)) target.options[calls_option] = "on";
  return target;
}

/// The module of another release or build of onnxruntime-web, in its package; empty: the one of the site.
fs::path fetched_module(const Target& target, const peer::PeerInfo& peer) {
  const auto needed = peer::needed_packages(peer, target.host, target.options);
  if (needed.empty() || target.host == "pc") return {};
  std::string build = "wasm";
  for (const EngineOption& option : peer.engine.options)
    if (option.name == peer::build_name) build = option.default_text;
  if (const auto given = target.options.find(std::string(peer::build_name)); given != target.options.end())
    build = given->second;
  const fs::path folder = package_folder(needed.front().package.name, needed.front().version) / "dist";
  std::error_code error;
  for (const char* const kind : {".bundle.min.mjs", ".min.mjs"})
    if (const fs::path file = folder / ("ort." + build + kind); fs::exists(file, error)) return file;
  return {};
}

Result<repro::Facts> facts_of_run(const Target& target, const Trace& about) {
  DRIFTSCOPE_TRY(const Engine* const engine, find_engine(target.engine));
  const nlohmann::json run = parse_json(about.run);
  repro::Facts facts{.target = target.text(),
                     .host = target.host,
                     .engine = target.engine,
                     .module = {},
                     .version = {},
                     .browser = {},
                     .device = {},
                     .system = system_text(),
                     .options = target.options};
  if (target.host != "pc" && !engine->info().browser_files.empty())
    facts.module = fs::path(engine->info().browser_files.front()).filename().string();
  if (const auto* const peer = dynamic_cast<const peer::PeerEngine*>(engine)) {
    const peer::PeerInfo& info = peer->info_of_peer();
    const std::string release = peer::release_to_fetch(info, target.options);
    facts.version = release.empty() ? info.version : release;
    if (const fs::path module = fetched_module(target, info); !module.empty())
      facts.module = module.filename().string();
  }
  if (!run.is_object()) return facts;
  facts.browser = text_at(run, "browser_version");
  facts.device = text_at(run, "device");
  const auto options = run.find("options");
  if (options != run.end() && options->is_object() && keeps_calls(*engine))
    facts.calls = text_at(*options, calls_option);
  if (const std::string version = text_at(run, "engine_version"); !version.empty()) facts.version = version;
  return facts;
}

/// Floats of the same root mean square; integers, which may be indices, are shuffled.
Status replace_values(Tensor& tensor, Rng& rng) {
  DRIFTSCOPE_TRY(Tensor made, Tensor::make(tensor.dtype(), tensor.shape()));
  const auto count = static_cast<std::size_t>(tensor.elements());
  if (is_floating(tensor.dtype())) {
    double square = 0.0;
    for (const double x : numbers_of(tensor))
      if (std::isfinite(x)) square += x * x;
    const double size = count > 0 ? std::sqrt(square / static_cast<double>(count)) : 0.0;
    visit_floating(tensor.dtype(), [&]<class E>() {
      for (auto& x : made.mutable_values<typename E::Stored>())
        x = E::nearest(static_cast<double>(rng.normal()) * size);
    });
  } else if (const std::int64_t bits = bits_per_element(tensor.dtype()); bits >= 8) {
    const auto bytes = static_cast<std::size_t>(bits / 8);
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = count; i > 1; --i)
      std::swap(order[i - 1], order[rng.below(static_cast<std::uint32_t>(i))]);
    for (std::size_t i = 0; i < count; ++i)
      std::memcpy(made.mutable_bytes().data() + i * bytes, tensor.bytes().data() + order[i] * bytes, bytes);
  } else {
    return unsupported(
        fmt::format("--anonymous: {} elements are not replaced", std::string(dtype_name(tensor.dtype()))));
  }
  tensor = std::move(made);
  return {};
}

class Report {
 public:
  Report(Excerpt one, const ReproOptions& options, ThreadPool& threads, const TargetProgress& progress)
      : one_(std::move(one)),
        options_(options),
        threads_(threads),
        progress_(progress),
        runner_(with_calls(options.target), options.runner, threads, progress) {}

  Result<ReproResult> make() {
    std::error_code error;
    const fs::path named = options_.folder.lexically_normal();
    const fs::path wanted = named.has_filename() ? named : named.parent_path();  // "report/"
    if (fs::exists(wanted, error))
      return bad_input(fmt::format("-o {}: it exists already; name a new folder", wanted.string()));
    const fs::path parent = wanted.has_parent_path() ? wanted.parent_path() : ".";
    if (!fs::is_directory(parent, error))
      return bad_input(fmt::format("-o {}: there is no folder {}", wanted.string(), parent.string()));
    DRIFTSCOPE_TRY(const repro::Runtime* const runtime, repro::runtime_for(options_.target.engine));
    DRIFTSCOPE_CHECK(options_.anonymous ? make_anonymous() : must_be_wrong());
    DRIFTSCOPE_TRY(facts_, facts_of_run(options_.target, runner_.about()));
    vary();
    DRIFTSCOPE_TRY(const TempFolder work, TempFolder::make_in(parent));
    const fs::path folder = work.path() / "report";
    fs::create_directory(folder, error);
    DRIFTSCOPE_TRY(const auto files, repro::report_files(one_, facts_, result_.table, threads_));
    ReproResult& result = result_;
    bool has_page = false;
    bool has_script = false;
    for (const repro::File& file : files) {
      DRIFTSCOPE_CHECK(write_file(folder / file.name, std::span<const std::byte>(file.bytes)));
      result.files.push_back(file.name);
      has_page = has_page || file.name == "index.html";
      has_script = has_script || file.name == "repro.py";
    }
    if (!has_page && !has_script)
      return unsupported(fmt::format(
          "no report is written for {}: the page that shows the fault needs a browser; take a trace of "
          "chrome/{}",
          options_.target.text(), options_.target.engine));
    if (has_page) {
      DRIFTSCOPE_TRY(result.page, run_page(*runtime, folder));
      if (result.page != "wrong")
        return unsupported(fmt::format(
            "the plain page says '{}' in {}{}: what is wrong in the run of {} does not show there; nothing "
            "was "
            "written",
            result.page, page_target().host,
            page_error_.empty() ? "" : " (" + plain_text(page_error_, 500) + ")", options_.target.text()));
    }
    if (has_script) result.script = run_script(folder, work.path() / "script.log");
    result.disclosed = repro::disclosed(one_, options_.anonymous);
    fs::rename(folder, wanted, error);
    if (error) return io_error(fmt::format("-o {}: cannot be written: {}", wanted.string(), error.message()));
    return std::move(result_);
  }

 private:
  /// A report is one without the table as well.
  void vary() {
    if (options_.table_runs == 0) return;
    constexpr std::chrono::seconds most_time{120};
    const auto end = std::chrono::steady_clock::now() + most_time;
    VaryOptions how{.most_runs = options_.table_runs};
    how.go_on = [&](const std::string& text, std::int64_t runs) {
      progress_("trying " + text, runs, options_.table_runs);
      return std::chrono::steady_clock::now() < end;
    };
    auto table = vary_parameters(one_, [&](Excerpt& other) { return runner_.run(other); }, how, threads_);
    if (table.ok())
      result_.table = *std::move(table);
    else
      result_.no_table = table.error().message;
  }

  Status must_be_wrong() {
    DRIFTSCOPE_TRY(const LayerVerdict verdict, runner_.run(one_));
    if (is_bad(verdict.verdict)) return set_expected(one_, runner_.about(), threads_);
    return unsupported(
        fmt::format("node '{}' alone is {} on {}: the fault needs its neighbours (fused operators, another "
                    "layout, a state "
                    "of the run), or came only once; no report was written",
                    one_.verdict.node, verdict_name(verdict.verdict), options_.target.text()));
  }

  Status make_anonymous() {
    constexpr std::uint64_t tries = 5;
    one_.plainer = true;
    for (std::uint64_t seed = 1; seed <= tries; ++seed) {
      Rng rng(seed);
      for (Value& value : one_.graph.values)
        if (value.constant) DRIFTSCOPE_CHECK(replace_values(*value.constant, rng));
      for (NamedTensor& input : one_.inputs) DRIFTSCOPE_CHECK(replace_values(input.tensor, rng));
      DRIFTSCOPE_TRY(const LayerVerdict verdict, runner_.run(one_));
      if (is_bad(verdict.verdict)) return set_expected(one_, runner_.about(), threads_);
    }
    return unsupported(
        fmt::format("--anonymous: with {} sets of other weights and inputs the node is right on {}: the "
                    "fault needs these "
                    "values; without --anonymous they are disclosed",
                    tries, options_.target.text()));
  }

  /// Where the runtime's files are: in the site, or in the package of another release.
  Result<fs::path> installed_files() {
    DRIFTSCOPE_TRY(const Engine* const engine, find_engine(facts_.engine));
    if (const auto* const peer = dynamic_cast<const peer::PeerEngine*>(engine))
      if (const fs::path module = fetched_module(options_.target, peer->info_of_peer()); !module.empty())
        return module.parent_path();
    DRIFTSCOPE_TRY(const fs::path site, find_site(options_.runner.site));
    return site / fs::path(engine->info().browser_files.front()).parent_path();
  }

  /// A runtime in JavaScript that ran in Node is the same in a page.
  [[nodiscard]] Target page_target() const {
    Target target = options_.target;
    const std::vector<std::string>& browsers = browser_hosts();
    if (std::ranges::find(browsers, target.host) == browsers.end()) target.host = browsers.front();
    return target;
  }

  Result<std::string> run_page(const repro::Runtime& runtime, const fs::path& folder) {
    std::vector<ServedFolder> folders = {{.path = "", .folder = folder}};
    if (!runtime.installed.empty()) {
      DRIFTSCOPE_TRY(const fs::path files, installed_files());
      for (const repro::Installed& one : runtime.installed)
        folders.push_back({std::string(one.path), files, {one.renamed.begin(), one.renamed.end()}});
    }
    DRIFTSCOPE_TRY(const auto server, FolderServer::start(folders));
    DRIFTSCOPE_TRY(const HostInfo host, probe_target_host(page_target()));
    progress_("running the page", 0, 0);
    DRIFTSCOPE_TRY(const Browser browser, Browser::start(host, server->url() + "index.html"));
    constexpr std::array<std::string_view, 3> pictures = {repro::right_picture, repro::wrong_picture,
                                                          repro::failed_picture};
    const auto seen = server->wait_for(pictures, options_.runner.timeout + std::chrono::seconds(30),
                                       [&] { return !browser.running(); });
    if (!seen)
      return missing_error(fmt::format("the page did not end in {}{}", host.version,
                                       browser.running() ? "" : ", which ended: " + browser.exit_text()));
    page_error_ = server->query_of(*seen);
    return seen->substr(0, seen->find('.'));
  }

  /// What it printed; or why it did not run.
  std::string run_script(const fs::path& folder, const fs::path& log) {
    progress_("running repro.py", 0, 0);
    constexpr int limit_ms = 120'000;
    auto process = ChildProcess::start({.arguments = {"env", "-C", folder.string(), "python3", "repro.py"},
                                        .environment = {{"PYTHONDONTWRITEBYTECODE", "1"}},
                                        .without = {},
                                        .output = log});
    if (!process.ok()) return "not run: " + process.error().message;
    if (!process->wait(limit_ms)) return "not run to its end: it takes longer than two minutes";
    const auto output = read_file(log);
    if (!output.ok()) return "not run: " + output.error().message;
    std::string text(reinterpret_cast<const char*>(output->data()), output->size());
    if (text.find("ModuleNotFoundError") != std::string::npos)
      return "not run: python3 has no onnxruntime (pip install onnxruntime numpy)";
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text.substr(0, text.find('\n'));
  }

  Excerpt one_;
  const ReproOptions& options_;
  ThreadPool& threads_;
  const TargetProgress& progress_;
  ExcerptRunner runner_;
  repro::Facts facts_;
  ReproResult result_;
  std::string page_error_;
};

}  // namespace

Result<ReproResult> make_report(const Excerpt& one, const ReproOptions& options, ThreadPool& threads,
                                const TargetProgress& progress) {
  return Report(one, options, threads, progress).make();
}

}  // namespace driftscope
