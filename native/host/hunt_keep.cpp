#include "native/host/hunt_keep.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/dataset/npy.hpp"
#include "core/hunt/judged.hpp"
#include "core/trace/trace_file.hpp"
#include "native/host/reduce_run.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;
using documents::HuntFound;

constexpr std::size_t longest_name = 40;

}  // namespace

void HuntKeeper::know(const documents::Hunt& hunt) {
  for (const documents::HuntFinding& finding : hunt.findings)
    if (finding.found.folder || plan_.reduce_seconds == 0) known_.insert({finding.target, finding.found.key});
}

bool HuntKeeper::is_new(const Target& target, const HuntFound& found) const {
  return found.kind != "overflow" && !known_.contains({target.text(), found.key});
}

Status HuntKeeper::keep_new(const Target& target, std::int64_t number, const HuntCase& one,
                            JudgedCase& judged) {
  static const Trace nothing;
  for (HuntFound& found : judged.cell.found) {
    const bool watched = judged.watched && !hunt::is_group(found);
    const Trace& trace = watched ? *judged.watched : judged.trace ? *judged.trace : nothing;
    DRIFTSCOPE_CHECK(keep_if_new(target, number, one, trace, found));
  }
  return {};
}

Status HuntKeeper::keep_new_of(const Target& target, std::int64_t number, documents::HuntCase& cell) {
  for (HuntFound& found : cell.found) found.folder.reset(), found.reduced.reset();
  if (std::ranges::none_of(cell.found, [&](const HuntFound& one) { return is_new(target, one); })) return {};
  DRIFTSCOPE_TRY(const HuntCase one, cases_.at(number));
  JudgedCase judged{cell};
  if (plan_.reduce_seconds > 0) {
    auto again = judge_.judge(
        target, std::span(&one, 1), [&](std::string_view step, std::int64_t done, std::int64_t total) {
          plan_.progress(fmt::format("{}: a finding, {}", target.text(), step), done, total);
        });
    if (!again.ok() && again.error().kind == ErrorKind::cancelled) return again.error();
    if (again.ok() && again->empty()) return Error{ErrorKind::cancelled, "stopped"};
    if (again.ok()) {
      judged.trace = std::move(again->front().trace);
      judged.watched = std::move(again->front().watched);
    }
    for (HuntFound& found : judged.cell.found) {
      const bool here =
          again.ok() && std::ranges::any_of(again->front().cell.found, [&](const HuntFound& other) {
            return other.key == found.key && other.node == found.node;
          });
      if (!here) found.reduced = "it was found on the cluster, and not again here";
    }
  }
  DRIFTSCOPE_CHECK(keep_new(target, number, one, judged));
  // Why it cannot be made smaller is said of what is kept.
  for (HuntFound& found : judged.cell.found)
    if (!found.folder) found.reduced.reset();
  cell = std::move(judged.cell);
  return {};
}

Status HuntKeeper::keep_if_new(const Target& target, std::int64_t number, const HuntCase& one,
                               const Trace& trace, HuntFound& found) {
  if (found.kind == "overflow") return {};
  if (!known_.insert({target.text(), found.key}).second) return {};
  if (plan_.reduce_seconds > 0) {
    const std::string name =
        fmt::format("{}-{}-{}", plain_name(target.text()), plain_name(found.op).substr(0, longest_name),
                    hunt::case_name(number));
    auto kept = keep(target, one, trace, found, plan_.folder / "findings" / name);
    if (!kept.ok()) {
      if (kept.error().kind == ErrorKind::cancelled) known_.erase({target.text(), found.key});
      return kept;
    }
    found.folder = name;
  }
  plan_.found(target.text(), found, one.text);
  return {};
}

/// The reduced node as a report, or, where that cannot be, the whole case. The folder gets its name when it
/// is complete.
Status HuntKeeper::keep(const Target& target, const HuntCase& one, const Trace& trace, HuntFound& found,
                        const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  const fs::path part = folder.string() + ".part";
  fs::remove_all(part, error);
  fs::remove_all(folder, error);
  if (!found.reduced && found.node.empty()) found.reduced = "no layer is named";
  if (!found.reduced) {
    if (const Status reduced = reduce_into(target, one, trace, found.node, part); !reduced.ok()) {
      if (plan_.stopped && plan_.stopped()) return Error{ErrorKind::cancelled, "stopped"};
      found.reduced = reduced.error().message;
      fs::remove_all(part, error);
    }
  }
  if (found.reduced) {
    DRIFTSCOPE_CHECK(write_case(one, part));
    if (!trace.tensors.empty()) {
      DRIFTSCOPE_TRY(const std::vector<std::byte> bytes, write_trace(trace));
      DRIFTSCOPE_CHECK(write_file(part / "trace.safetensors", std::span<const std::byte>(bytes)));
    }
  }
  fs::rename(part, folder, error);
  if (error) return io_error(fmt::format("{}: {}", folder.string(), error.message()));
  return {};
}

Status HuntKeeper::reduce_into(const Target& target, const HuntCase& one, const Trace& trace,
                               const std::string& node, const fs::path& part) {
  const ReduceRunOptions options{.target = target,
                                 .runner = plan_.runner,
                                 .tries = plan_.reduce_tries,
                                 .seconds = plan_.reduce_seconds,
                                 .table_runs = 0,
                                 .stopped = plan_.stopped};
  const auto tell = [&](std::string_view step, std::int64_t done, std::int64_t total) {
    plan_.progress(std::string(step), done, total);
  };
  DRIFTSCOPE_TRY(const ReduceRun run,
                 reduce_layer(one.model->graph, TraceView(trace), node, options, judge_.threads(), tell));
  const auto written = write_reduced(run.reduced.excerpt, part, options, judge_.threads(), tell);
  return written.ok() ? Status() : Status(written.error());
}

Status write_case(const HuntCase& one, const std::filesystem::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return io_error(fmt::format("{}: {}", folder.string(), error.message()));
  DRIFTSCOPE_CHECK(write_file(folder / "model.onnx", one.model->bytes.bytes()));
  for (const NamedTensor& input : one.inputs) {
    DRIFTSCOPE_TRY(const std::vector<std::byte> bytes, write_npy(input.tensor));
    DRIFTSCOPE_CHECK(
        write_file(folder / (plain_name(input.name) + ".npy"), std::span<const std::byte>(bytes)));
  }
  return {};
}

}  // namespace driftscope
