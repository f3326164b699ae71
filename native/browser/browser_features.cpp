#include "native/browser/browser_features.hpp"

#include <fmt/format.h>
#include <glob.h>

#include <array>
#include <cstdlib>
#include <map>
#include <mutex>

#include "native/browser/chromium_flags.hpp"
#include "native/browser/chromium_sandbox.hpp"
#include "native/os/child_process.hpp"
#include "native/os/files.hpp"
#include "native/os/find_program.hpp"
#include "native/os/temp_folder.hpp"
#include "native/platform/cache_folder.hpp"
#include "native/platform/trusted_path.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

// A browser without it answers in about a second; a headless_shell may never print a page.
constexpr int question_timeout_ms = 30'000;

// An <iframe> whose document stays open keeps the page loading, and --dump-dom waiting, until the answer is
// there.
constexpr std::string_view question_page = R"(<!doctype html><iframe id="f"></iframe><p id="p"></p>
<script>
const frame = document.getElementById("f").contentDocument;
frame.open();
(async () => {{}})().then(() => {}).then(() => "yes", (error) => `no: ${{error.message}}`).then((text) => {{
  document.getElementById("p").textContent = `answer ${{text}}.`;
  frame.close();
}});
</script>
)";

const std::array<BrowserFeature, 1>& features() {
  static const std::array<BrowserFeature, 1> all = {{{.name = "webnn",
                                                      .title = "WebNN",
                                                      .host = "chrome",
                                                      .variable = "DRIFTSCOPE_CHROME_WEBNN",
                                                      .enabled = "WebMachineLearningNeuralNetwork",
                                                      .unpacked = "chromium-webnn-*/chromium",
                                                      .question = "navigator.ml.createContext()"}}};
  return all;
}

// The newest, as their names say; `why`: of one that is not used.
fs::path find_unpacked(const BrowserFeature& feature, std::string& why) {
  const fs::path folder = cache_folder();
  if (folder.empty()) return {};
  glob_t matches{};
  fs::path found;
  if (glob((folder / feature.unpacked).c_str(), 0, nullptr, &matches) == 0)
    for (std::size_t i = 0; i < matches.gl_pathc; ++i)
      if (const fs::path program = find_program(matches.gl_pathv[i]); !program.empty()) {
        const std::string reason = why_untrusted(program);
        if (reason.empty())
          found = program;
        else
          why = fmt::format("'{}' is not used, as somebody else could have replaced it: {}", program.string(),
                            reason);
      }
  globfree(&matches);
  return found;
}

Result<std::string> ask(const BrowserFeature& feature, const fs::path& program) {
  DRIFTSCOPE_TRY(const TempFolder folder, TempFolder::make());
  const fs::path page = folder.path() / "question.html";
  DRIFTSCOPE_CHECK(write_temporary(page, fmt::format(fmt::runtime(question_page), feature.question)));
  ProcessSpec spec;
  spec.arguments = chromium_flags(folder.path() / "profile");
  spec.arguments.insert(spec.arguments.begin(), program.string());
  spec.arguments.push_back("--enable-features=" + feature.enabled);
  DRIFTSCOPE_TRY(const std::vector<std::string> sandbox, sandbox_arguments());
  spec.arguments.insert(spec.arguments.end(), sandbox.begin(), sandbox.end());
  spec.arguments.emplace_back("--dump-dom");
  spec.arguments.push_back("file://" + page.string());
  spec.environment = {{"HOME", folder.path().string()}, {"DBUS_SESSION_BUS_ADDRESS", "disabled:"}};
  spec.without = {"DISPLAY", "WAYLAND_DISPLAY"};
  return command_output(spec, question_timeout_ms);
}

std::string answer_in(const std::string& page) {
  const auto begin = page.find(">answer ");
  if (begin == std::string::npos) return "nothing";
  const auto end = page.find(".</p>", begin);
  return page.substr(begin + 8, end == std::string::npos ? end : end - begin - 8);
}

}  // namespace

const BrowserFeature* find_browser_feature(std::string_view name) {
  for (const BrowserFeature& feature : features())
    if (feature.name == name) return &feature;
  return nullptr;
}

Status check_browser_feature(const BrowserFeature& feature, const fs::path& program) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, fs::path>, std::string> answers;
  const std::lock_guard lock(mutex);
  const auto key = std::pair(feature.name, program);
  if (!answers.contains(key)) {
    auto page = ask(feature, program);
    if (!page.ok() && page.error().kind == ErrorKind::cancelled) return std::move(page).error();
    answers[key] = page.ok() ? answer_in(*page) : page.error().message;
  }
  if (answers[key] == "yes") return {};
  return missing_error(fmt::format("{} lacks {}: {}", program.string(), feature.title, answers[key]));
}

Result<fs::path> find_browser_with(const BrowserFeature& feature, const fs::path& usual) {
  if (const char* named = std::getenv(feature.variable.c_str()); named && *named) {
    const fs::path program = find_program(named);
    if (!program.empty()) return program;
    return missing_error(
        fmt::format("{}: '{}' (from {}) is not a program", feature.host, named, feature.variable));
  }
  std::string why = "there is no other browser";
  if (!usual.empty()) {
    const Status has = check_browser_feature(feature, usual);
    if (has.ok()) return usual;
    if (has.error().kind == ErrorKind::cancelled) return has.error();
    why = has.error().message;
  }
  if (fs::path program = find_unpacked(feature, why); !program.empty()) return program;
  return missing_error(
      fmt::format("{}: no browser with {} is installed ({}); './tools/setup' unpacks one, and ${} may name "
                  "another",
                  feature.host, feature.title, why, feature.variable));
}

}  // namespace driftscope
