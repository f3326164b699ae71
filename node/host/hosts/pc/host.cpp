// The PC, where the native program of the same version is installed as well: targets run in a process of it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <span>

#include "core/base/text.hpp"
#include "core/protocol/client.hpp"
#include "native/host/host.hpp"
#include "native/host/worker_process.hpp"
#include "native/host/worker_session.hpp"
#include "native/os/find_program.hpp"

namespace driftscope::hosts::pc {
namespace {

namespace fs = std::filesystem;

constexpr const char* variable = "DRIFTSCOPE_NATIVE";

/// Whether a file of this name is machine code: this program, as npm and pip install it, is a script.
bool is_native(const fs::path& program) {
  std::ifstream file(program, std::ios::binary);
  std::array<unsigned char, 4> begin{};
  if (!file.read(reinterpret_cast<char*>(begin.data()), begin.size())) return false;
  constexpr std::array<unsigned char, 4> elf{0x7f, 'E', 'L', 'F'};
  constexpr std::array<unsigned char, 4> mach_o{0xcf, 0xfa, 0xed, 0xfe};
  return begin == elf || begin == mach_o;
}

Result<fs::path> find_native() {
  const char* const named = std::getenv(variable);
  const bool is_named = named != nullptr && *named != '\0';
  const fs::path found = is_named ? find_program(named) : find_program("driftscope", is_native);
  if (!found.empty()) return found;
  if (is_named) return missing_error(fmt::format("pc: '{}' (from {}) is not a program", named, variable));
  return missing_error(fmt::format(
      "pc: the native program is not installed, which runs the targets of this host; install the same "
      "version "
      "of it ({}, docs/install.md), or name it with {}; targets of the host node need nothing more",
      DRIFTSCOPE_VERSION, variable));
}

/// What was found, asked once.
struct Native {
  fs::path program;
  messages::CapabilitiesResponse capabilities;
};

class OneQuestion final : public ServiceTransport {
 public:
  explicit OneQuestion(WorkerProcess& process) : process_(process) {}
  Result<Response> exchange(const std::string& json, std::span<const std::byte> payload) override {
    constexpr std::chrono::seconds patience{20};
    return process_.exchange(json, payload, {}, patience, [] { return false; });
  }

 private:
  WorkerProcess& process_;
};

Result<Native> ask_native() {
  DRIFTSCOPE_TRY(const fs::path program, find_native());
  ProcessSpec spec;
  spec.arguments = {program.string(), "--version"};
  constexpr int timeout_ms = 20000;
  DRIFTSCOPE_TRY(std::string version, command_output(spec, timeout_ms));
  version.resize(std::min(version.find('\n'), version.size()));
  if (version != "driftscope " DRIFTSCOPE_VERSION)
    return missing_error(
        fmt::format("pc: '{}' is {}, this is driftscope {}; install the same version of both, or "
                    "name another program with {}",
                    program.string(), in_quotes(version, 80), DRIFTSCOPE_VERSION, variable));
  DRIFTSCOPE_TRY(WorkerProcess process, WorkerProcess::start({program.string()}));
  OneQuestion question(process);
  ServiceClient client(question);
  auto answer = client.send(messages::Capabilities{});
  if (!answer.ok()) return in_context(std::move(answer).error(), "pc: '" + program.string() + "'");
  return Native{program, std::move(answer->head)};
}

const Result<Native>& native() {
  static const Result<Native> found = ask_native();
  return found;
}

class Pc final : public Host {
 public:
  const HostFacts& facts() const override { return facts_; }

  Result<std::string> version() const override {
    const auto& found = native();
    if (!found.ok()) return found.error();
    return fmt::format("driftscope {} ({}), {}", DRIFTSCOPE_VERSION, found->program.string(),
                       found->capabilities.platform);
  }

  bool can_run(const EngineInfo& engine) const override { return engine.on_pc; }

  Availability runs(const Engine& engine) const override {
    const auto& found = native();
    if (!found.ok()) return {false, found.error().message};
    for (const messages::Engine& there : found->capabilities.engines)
      if (there.name == engine.name()) return {there.available, there.reason};
    return {false, "the native program has no engine " + engine.name()};
  }

  Result<std::vector<std::string>> worker_program() const override {
    const auto& found = native();
    if (!found.ok()) return found.error();
    return std::vector<std::string>{found->program.string()};
  }

  Result<std::unique_ptr<HostSession>> open(const Target& target, HostContext& context) const override {
    DRIFTSCOPE_TRY(std::vector<std::string> program, worker_program());
    return worker_session(target, std::move(program), context.options);
  }

 private:
  const HostFacts facts_{.name = "pc", .order = 35, .optional = true};
};

}  // namespace

void add_to(HostTable& table) { table.add(std::make_unique<Pc>()); }

}  // namespace driftscope::hosts::pc
