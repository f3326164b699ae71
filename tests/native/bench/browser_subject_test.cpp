// A target of a bench in fake browsers made of a few lines of shell.
#include "native/bench/browser_subject.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "native/http/raw_http.hpp"

namespace driftscope::test::browser_subject_test {
namespace {

using namespace testing;
using std::chrono::milliseconds;

/// During its lifetime Chromium is this program.
class FakeChromium {
 public:
  explicit FakeChromium(const std::filesystem::path& path) {
    if (const char* before = std::getenv(variable)) before_ = before;
    setenv(variable, path.c_str(), 1);
  }
  ~FakeChromium() {
    if (before_)
      setenv(variable, before_->c_str(), 1);
    else
      unsetenv(variable);
  }
  FakeChromium(const FakeChromium&) = delete;
  FakeChromium& operator=(const FakeChromium&) = delete;

 private:
  static constexpr const char* variable = "DRIFTSCOPE_CHROME";
  std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("BrowserSubject_PageIsNotOpened_IsStartedOnceMore") {
  const TestSite fake;
  const std::string mark = (fake.folder->path() / "starts").string();
  fake.write("browser", "#!/bin/sh\ncase \"$*\" in *version*) echo Chromium 1.0;; *) echo >>" + mark +
                            "; exec sleep 1010;; esac\n");
  const auto program = fake.folder->path() / "browser";
  chmod(program.c_str(), 0700);
  const FakeChromium chromium(program);
  ModelFile model;
  model.path = "tiny.onnx";
  model.bytes = std::make_shared<const Bytes>(5);
  SubjectSpec spec;
  spec.target = *parse_target("chrome/strict");
  spec.model = &model;
  spec.inputs = std::make_shared<const Bytes>();
  spec.timeout = milliseconds(900);
  spec.start_patience = milliseconds(300);
  BenchRow row;
  const auto subject = open_browser_subject(*fake.server, spec, [] { return false; }, row);
  REQUIRE_FALSE(subject.ok());
  CHECK(subject.error().message.find("did not open the page") != std::string::npos);
  std::ifstream starts(mark);
  CHECK(std::count(std::istreambuf_iterator<char>(starts), {}, '\n') == 2);
}

}  // namespace driftscope::test::browser_subject_test
