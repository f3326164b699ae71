// Fake browsers made of a few lines of shell: what the launcher does when one exits, hangs, or leaves
// processes behind, and two of them at once. No real browser is needed.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>

#include "core/trace/trace_file.hpp"
#include "native/browser/run_in_browser.hpp"
#include "native/http/raw_http.hpp"
#include "native/os/child_process.hpp"

namespace driftscope::test::launcher_test {
namespace {

using namespace testing;
using std::chrono::milliseconds;

// Shell functions that a fake browser may use; its last argument is the file that leads to the page.
constexpr const char* shell_page = R"sh(#!/bin/bash
start=${!#}; start=${start#file://}; url=$(sed -n 's/.*url=\([^"]*\)".*/\1/p' "$start")
rest=${url#http://}; address=${rest%%/*}; token=${rest#*/}; token=${token%%/*}
job=${url##*job=}; api=/$token/api/jobs/$job
request() { # METHOD PATH FILE
  exec 9<>"/dev/tcp/${address%:*}/${address#*:}"
  { printf '%s %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n' "$1" "$2" "$address" \
      "$([[ $3 ]] && stat -c %s "$3" || echo 0)"; [[ ! $3 ]] || cat "$3"; } >&9
  reply=$(cat <&9); exec 9>&-
}
next_job() { # after the result: sets api to that of the next job; fails when there will be none
  while [[ $reply != *'"next"'* ]]; do
    [[ $reply == *'"stop":false'* ]] || return
    request GET "$api/next"
  done
  job=$(sed -n 's/.*"next":"\([0-9a-f]*\)".*/\1/p' <<<"$reply")
  api=/$token/api/jobs/$job
}
)sh";

struct Fake : TestSite {
  HostInfo browser(const std::string& name, const std::string& script) const {
    write(name, shell_page + script);
    const auto path = folder->path() / name;
    chmod(path.c_str(), 0700);
    return {"chrome", "Fake", path, "Fake 1.0"};
  }
  static BrowserJob job() {
    BrowserJob job;
    job.target = *parse_target("chrome/strict");
    job.model_name = "tiny";
    job.model = bytes_of("model");
    job.inputs = bytes_of("inputs");
    return job;
  }
  Result<Trace> run(const HostInfo& host, milliseconds timeout = milliseconds(5000),
                    milliseconds start_patience = std::chrono::seconds(30),
                    std::optional<milliseconds> stall_timeout = {}) const {
    BrowserOptions options;
    options.timeout = timeout;
    options.stall_timeout = stall_timeout;
    options.start_patience = start_patience;
    return run_in_browser(*server, host, job(), options, {});
  }
  /// A trace file for a fake page to send.
  std::string trace_file(const std::string& name, const std::string& target) const {
    Trace trace;
    trace.target = target;
    trace.tensors.push_back({"x", Tensor()});
    const auto bytes = write_trace(trace);
    write(name, std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()));
    return (folder->path() / name).string();
  }
};

ProcessSpec no_such_program() {
  ProcessSpec spec;
  spec.arguments = {"no-such-program-anywhere"};
  return spec;
}

// Processes whose command line contains `text`, except this one.
int processes_with(const std::string& text) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline");
    std::string line;
    std::getline(file, line, '\n');
    if (line.find(text) != std::string::npos) ++count;
  }
  return count;
}

int temp_folders() {
  int count = 0;
  const std::string ours = "driftscope-" + std::to_string(getpid());
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::temp_directory_path()))
    count += entry.path().filename().string().starts_with(ours);
  return count;
}

TEST_CASE("Launcher_BrowserExitsEarly_MissingWithItsLastWords") {
  const Fake fake;
  const auto trace = fake.run(fake.browser("b", "echo 'no display today' >&2; exit 3"));
  REQUIRE_FALSE(trace.ok());
  CHECK(trace.error().kind == ErrorKind::missing);
  CHECK(trace.error().message.find("exit status 3") != std::string::npos);
  CHECK(trace.error().message.find("no display today") != std::string::npos);
}

TEST_CASE("Launcher_BrowserKilledInMidRun_SaysTheSignal") {
  const Fake fake;
  const auto trace = fake.run(fake.browser("b", "request GET $api; kill -SEGV $$"));
  REQUIRE_FALSE(trace.ok());
  CHECK(trace.error().kind == ErrorKind::missing);
  CHECK(trace.error().message.find("signal 11") != std::string::npos);
}

TEST_CASE("Launcher_BrowserNeverOpensThePage_GivenUpAfterTheTimeout") {
  const Fake fake;
  const auto begin = Clock::now();
  const auto trace =
      fake.run(fake.browser("b", "exec sleep 1001." + std::to_string(getpid())), milliseconds(400));
  REQUIRE_FALSE(trace.ok());
  CHECK(trace.error().kind == ErrorKind::missing);
  CHECK(trace.error().message.find("did not open the page for 0.4 s") != std::string::npos);
  CHECK(Clock::now() - begin < std::chrono::seconds(20));
  CHECK(processes_with("1001." + std::to_string(getpid())) == 0);
}

TEST_CASE("Launcher_FirstBrowserNeverOpensThePage_AnotherIsStartedOnce") {
  const Fake fake;
  const std::string mark = (fake.folder->path() / "starts").string();
  const std::string sleep = "sleep 1004." + std::to_string(getpid());
  const auto host = fake.browser("b", "echo start >>" + mark + "; [ $(wc -l <" + mark + ") = 2 ] || exec " +
                                          sleep + "; request GET $api; exit 5");
  const auto trace = fake.run(host, std::chrono::seconds(20), milliseconds(300));
  REQUIRE_FALSE(trace.ok());
  CHECK(trace.error().message.find("exit status 5") != std::string::npos);
  CHECK(processes_with("1004." + std::to_string(getpid())) == 0);

  const auto never = fake.run(fake.browser("c", "echo start >>" + mark + "; exec " + sleep),
                              milliseconds(1500), milliseconds(300));
  REQUIRE_FALSE(never.ok());
  CHECK(never.error().message.find("did not open the page for 1.5 s") != std::string::npos);
  std::ifstream starts(mark);
  CHECK(std::count(std::istreambuf_iterator<char>(starts), {}, '\n') == 4);
}

TEST_CASE("Launcher_PageOpensAndGoesSilent_GivenUp") {
  const Fake fake;
  const auto trace = fake.run(fake.browser("b", "request GET $api; exec sleep 1002"), milliseconds(600));
  REQUIRE_FALSE(trace.ok());
  CHECK(trace.error().message.find("gave no sign of life") != std::string::npos);
}

// A page that says again and again that it lives, and never anything new.
std::string living_page(const Fake& fake, const std::string& times) {
  fake.write("progress", R"({"phase":"run","done":1,"total":2,"worker_silent_ms":7000})");
  return "request GET $api; for ((i = 0; i < " + times + "; ++i)); do request POST $api/progress " +
         (fake.folder->path() / "progress").string() + "; sleep 0.05; done; ";
}

TEST_CASE("Launcher_PageLivesButMakesNoProgress_GivenUp") {
  const Fake fake;
  const auto host = fake.browser("b", living_page(fake, "10000"));
  // The timeout is long enough for a busy machine to send signs of life.
  const auto trace = fake.run(host, std::chrono::seconds(4), std::chrono::seconds(30), milliseconds(1500));
  REQUIRE_FALSE(trace.ok());
  CHECK(trace.error().kind == ErrorKind::missing);
  CHECK(trace.error().message.find("made no progress for 1.5 s in phase 'run'") != std::string::npos);
  CHECK(trace.error().message.find("its worker has not answered for ") != std::string::npos);
  CHECK(trace.error().message.find("--stall-timeout allows more") != std::string::npos);
}

TEST_CASE("Launcher_PageLivesForLongerThanTheTimeout_IsWaitedFor") {
  const Fake fake;
  const std::string file = fake.trace_file("trace", "chrome/strict");
  const auto host =
      fake.browser("b", living_page(fake, "40") + "request POST $api/result " + file + "; sleep 9");
  bool slow = false;
  BrowserOptions options;
  options.timeout = milliseconds(1000);
  options.stall_timeout = std::chrono::seconds(60);
  const auto began = Clock::now();
  const auto trace = run_in_browser(*fake.server, host, Fake::job(), options, [&](const auto& now) {
    slow = slow || now.slow;
    return true;
  });
  REQUIRE_MESSAGE(trace.ok(), trace.error().message);
  CHECK(Clock::now() - began > 2 * options.timeout);
  CHECK(slow);
}

TEST_CASE("Launcher_ChildrenThatLeftTheSession_EndedToo") {
  const Fake fake;
  // One in the background, one that ignores TERM, one in a session of its own whose parent is gone.
  const std::string sleep = "sleep 1003." + std::to_string(getpid());
  const auto host = fake.browser("b", sleep + " & (trap '' TERM; exec " + sleep + ") &\n(setsid setsid " +
                                          sleep + " &)\nrequest GET $api; exec " + sleep);
  const auto trace = fake.run(host, milliseconds(700));
  CHECK_FALSE(trace.ok());
  CHECK(processes_with("1003." + std::to_string(getpid())) == 0);
}

TEST_CASE("Launcher_AfterEveryEnd_NoFolderIsLeft") {
  const Fake fake;
  const int before = temp_folders();
  CHECK_FALSE(fake.run(fake.browser("b", "touch $HOME/x $TMPDIR/y; exit 1")).ok());
  CHECK(temp_folders() == before);
}

TEST_CASE("Launcher_ErrorOfThePage_KeepsItsKind") {
  const Fake fake;
  fake.write("error", R"({"kind":"unsupported","message":"no such operator"})");
  const auto trace =
      fake.run(fake.browser("b", "request GET $api; request POST $api/error " +
                                     (fake.folder->path() / "error").string() + "; exec sleep 1004"));
  REQUIRE_FALSE(trace.ok());
  CHECK(trace.error().kind == ErrorKind::unsupported);
  CHECK(trace.error().message == "chrome: no such operator");
}

TEST_CASE("Launcher_TraceSent_ComesBackWithMemoryOfTheTree") {
  const Fake fake;
  const std::string file = fake.trace_file("trace", "chrome/strict");
  const auto trace =
      fake.run(fake.browser("b", "request GET $api; request POST $api/result " + file + "; sleep 9"));
  REQUIRE_MESSAGE(trace.ok(), trace.error().message);
  REQUIRE_FALSE(trace->memory.empty());
  CHECK(trace->memory.back().kind == "process_tree_pss");
  CHECK(trace->memory.back().bytes > 100'000);
}

TEST_CASE("Launcher_AnswerThatIsNoTrace_IsAnError") {
  const Fake fake;
  fake.write("junk", "this is not a trace");
  const auto junk = fake.run(fake.browser(
      "b", "request GET $api; request POST $api/result " + (fake.folder->path() / "junk").string()));
  REQUIRE_FALSE(junk.ok());
  CHECK(junk.error().message.find("the trace that the browser sent") != std::string::npos);
  const std::string other = fake.trace_file("other", "chrome/reference");
  CHECK_FALSE(fake.run(fake.browser("c", "request GET $api; request POST $api/result " + other)).ok());
}

TEST_CASE("Launcher_DeepFolderForTemporaryFiles_LeavesRoomForTheBrowsersSockets") {
  const auto outer = TempFolder::make();
  REQUIRE(outer.ok());
  const std::filesystem::path deep = outer->path() / std::string(80, 'd');
  std::filesystem::create_directory(deep);
  setenv("TMPDIR", deep.c_str(), 1);
  const Fake fake;
  const std::string made = (fake.folder->path() / "made").string();
  const auto trace = fake.run(fake.browser("b", "echo -n $TMPDIR >" + made + "; exit 3"));
  unsetenv("TMPDIR");
  CHECK_FALSE(trace.ok());
  std::ifstream file(made);
  std::string folder;
  std::getline(file, folder);
  CHECK(folder.size() > 4);
  CHECK((folder + "/org.chromium.Chromium.abcdef/SingletonSocket").size() < 108);
  CHECK_FALSE(std::filesystem::exists(folder));
}

TEST_CASE("Launcher_Token_IsNotAmongTheArguments") {
  const Fake fake;
  const std::string seen = (fake.folder->path() / "seen").string();
  const char* const proxies[] = {"http_proxy", "HTTPS_PROXY", "All_Proxy", "auto_proxy", "SOCKS_SERVER"};
  for (const char* name : proxies) setenv(name, "http://127.0.0.1:1", 1);
  CHECK_FALSE(fake.run(fake.browser("b",
                                    "{ tr '\\0' ' ' </proc/$$/cmdline; echo; stat -c %a \"$start\"; "
                                    "stat -c %a \"$(dirname \"$start\")\"; env | grep -c 127.0.0.1:1$; } >" +
                                        seen + "; exit 1"))
                  .ok());
  for (const char* name : proxies) unsetenv(name);
  std::ifstream file(seen);
  std::string arguments;
  std::string mode;
  std::string folder_mode;
  std::string proxies_seen;
  std::getline(file, arguments);
  std::getline(file, mode);
  std::getline(file, folder_mode);
  std::getline(file, proxies_seen);
  CHECK(arguments.find("start.html") != std::string::npos);
  CHECK(arguments.find(fake.token.substr(1)) == std::string::npos);
  CHECK(arguments.find("job=") == std::string::npos);
  CHECK(mode == "600");
  CHECK(folder_mode == "700");
  CHECK(proxies_seen == "0");
}

TEST_CASE("Launcher_TwoAtOnce_EachGetsItsOwn") {
  const Fake fake;
  const std::string file = fake.trace_file("trace", "chrome/strict");
  const auto good =
      fake.browser("good", "request GET $api; sleep 0.5; request POST $api/result " + file + "; sleep 9");
  const auto bad = fake.browser("bad", "request GET $api; exit 4");
  Result<Trace> first = internal_error("not run");
  std::thread thread([&] { first = fake.run(good); });
  const auto second = fake.run(bad);
  thread.join();
  CHECK_MESSAGE(first.ok(), (first.ok() ? "" : first.error().message));
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().message.find("exit status 4") != std::string::npos);
}

TEST_CASE("Launcher_CallbackSaysNo_Cancelled") {
  const Fake fake;
  const auto trace = run_in_browser(*fake.server, fake.browser("b", "exec sleep 1005"), Fake::job(), {},
                                    [](const BrowserProgress&) { return false; });
  REQUIRE_FALSE(trace.ok());
  CHECK(trace.error().kind == ErrorKind::cancelled);
}

TEST_CASE("Launcher_BrowserAbsent_SaysHowToInstall") {
  setenv("PATH", "/nowhere", 1);
  const auto host = probe_host("firefox");
  setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
  REQUIRE_FALSE(host.ok());
  CHECK(host.error().kind == ErrorKind::missing);
  CHECK(host.error().message.find("tools/setup") != std::string::npos);
  setenv("DRIFTSCOPE_CHROME", "/no/such/browser", 1);
  const auto named = probe_host("chrome");
  unsetenv("DRIFTSCOPE_CHROME");
  REQUIRE_FALSE(named.ok());
  CHECK(named.error().kind == ErrorKind::missing);
  CHECK(named.error().message.find("DRIFTSCOPE_CHROME") != std::string::npos);
  CHECK(probe_host("netscape").error().kind == ErrorKind::bad_input);
}

TEST_CASE("ChildProcess_OrphansThatEndedBeforeIt_LeaveNoZombie") {
  ProcessSpec spec;
  // As a browser's crash handler: a session of its own, its parent gone.
  spec.arguments = {"bash", "-c", "(setsid sleep 0.05 &) && exec sleep 1005"};
  auto child = ChildProcess::start(spec);
  REQUIRE(child.ok());
  for (int i = 0; i < 200 && ended_children().empty(); ++i) std::this_thread::sleep_for(milliseconds(20));
  CHECK_FALSE(ended_children().empty());
  child->end(0);
  CHECK(ended_children().empty());
}

TEST_CASE("ChildProcess_AnotherThatHasEnded_StillSaysHow") {
  ProcessSpec spec;
  spec.arguments = {"bash", "-c", "exit 7"};
  auto first = ChildProcess::start(spec);
  auto second = ChildProcess::start(spec);
  REQUIRE(first.ok());
  REQUIRE(second.ok());
  REQUIRE(first->wait(10000));
  REQUIRE(second->wait(10000));
  first->end(0);
  CHECK(second->exit_text() == "exit status 7");
}

TEST_CASE("ChildProcess_NoSuchProgram_Missing") {
  const auto child = ChildProcess::start(no_such_program());
  REQUIRE_FALSE(child.ok());
  CHECK(child.error().kind == ErrorKind::missing);
}

TEST_CASE("CleanupRegistry_UndoAll_LastFirstThenRejects") {
  CleanupRegistry registry;
  std::string order;
  for (const char* name : {"a", "b", "c"})
    CHECK(registry
              .add([&]() -> Result<CleanupRegistry::Undo> {
                return CleanupRegistry::Undo([&order, name] { order += name; });
              })
              .ok());
  registry.remove(2);
  registry.undo_all();
  CHECK(order == "ca");
  const auto late =
      registry.add([]() -> Result<CleanupRegistry::Undo> { return CleanupRegistry::Undo([] {}); });
  REQUIRE_FALSE(late.ok());
  CHECK(late.error().kind == ErrorKind::cancelled);
}

// If a signal ends the browser and the command, the command must not go on to report the browser's end.
TEST_CASE("CleanupRegistry_UndoAll_NobodyGoesOnBeforeTheEnd") {
  CleanupRegistry registry;
  std::atomic<bool> asked = false;
  std::atomic<bool> went_on = false;
  std::thread other;
  bool before_the_end = true;
  registry.undo_all([&] {
    other = std::thread([&] {
      asked = true;
      went_on = registry.closed();
    });
    while (!asked) std::this_thread::yield();
    std::this_thread::sleep_for(milliseconds(50));
    before_the_end = went_on;
  });
  other.join();
  CHECK_FALSE(before_the_end);
  CHECK(went_on);
}

}  // namespace
TEST_CASE("Launcher_ModelBeyondTheLimit_IsRefusedBeforeABrowserStarts") {
  const Fake fake;
  BrowserOptions options;
  options.max_model_bytes = 4;  // "model" has five bytes
  const HostInfo host{"chrome", "Fake", "/nonexistent/browser", "Fake 1.0"};
  const auto trace = run_in_browser(*fake.server, host, Fake::job(), options, {});
  REQUIRE_FALSE(trace.ok());
  CHECK(trace.error().kind == ErrorKind::limit);
  CHECK(trace.error().message.find("tiny has 0 MiB") != std::string::npos);
}

TEST_CASE("Session_SeveralJobs_AreRunByOneBrowserAfterTheOther") {
  const Fake fake;
  const std::string file = fake.trace_file("trace", "chrome/strict");
  BrowserSession session(*fake.server,
                         fake.browser("b", "while :; do request GET $api; request POST $api/result " + file +
                                               "; next_job || exit; done"));
  for (int run = 0; run < 3; ++run) {
    const auto trace = run_in_browser(session, Fake::job(), {}, {});
    REQUIRE_MESSAGE(trace.ok(), trace.error().message);
    CHECK(trace->target == "chrome/strict");
  }
  CHECK(session.starts() == 1);
}

TEST_CASE("Session_JobThatFails_GivesTheNextOneAnotherBrowser") {
  const Fake fake;
  const std::string file = fake.trace_file("trace", "chrome/strict");
  fake.write("error", R"({"kind": "unsupported", "message": "no such operator"})");
  const std::string error = (fake.folder->path() / "error").string();
  const std::string mark = (fake.folder->path() / "failed").string();
  BrowserSession session(
      *fake.server,
      fake.browser("b", "while :; do request GET $api; if [[ -e " + mark +
                            " ]]; then request POST $api/result " + file + "; else touch " + mark +
                            "; request POST $api/error " + error + "; fi; next_job || exit; done"));
  const auto first = run_in_browser(session, Fake::job(), {}, {});
  REQUIRE_FALSE(first.ok());
  CHECK(first.error().message.find("no such operator") != std::string::npos);
  CHECK(run_in_browser(session, Fake::job(), {}, {}).ok());
  CHECK(session.starts() == 2);
}

// It ends between two jobs: the next one starts it again.
TEST_CASE("Session_BrowserThatEndsBetweenJobs_IsStartedAgain") {
  const Fake fake;
  const std::string file = fake.trace_file("trace", "chrome/strict");
  const std::string once = "request GET $api; request POST $api/result " + file + " & sleep 0.2";
  BrowserSession session(*fake.server, fake.browser("b", once));
  for (int run = 1; run <= 2; ++run) {
    const auto trace = run_in_browser(session, Fake::job(), {}, {});
    REQUIRE_MESSAGE(trace.ok(), trace.error().message);
    CHECK(session.starts() == run);
    std::this_thread::sleep_for(milliseconds(500));
  }
}

}  // namespace driftscope::test::launcher_test
