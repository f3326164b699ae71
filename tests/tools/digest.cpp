// Runs a model with the strict engine and prints the SHA-256 of every captured tensor, one line
// each: two hosts agree bit by bit if their lines are equal. What actually ran comes first, after
// "# ".
//   driftscope_digest MODEL.onnx [--seed N | --input FILE.safetensors] [--threads N] [--simd BITS]
//   driftscope_digest --list FILE …   a line for each model that the file lists: its digest, or "refused"
// A NaN is hashed as 0x7fc00000: the payload of a NaN carries no meaning and differs between
// processors. Built natively and as WebAssembly; external data files are not read. Clients: the bit identity
// matrix, tools/fuzz.
#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "core/base/sha256.hpp"
#include "core/eval/infer_shapes.hpp"
#include "core/graph/build.hpp"
#include "core/inputs/found_inputs.hpp"
#include "core/model/alive_tensors.hpp"
#include "core/model/onnx_reader.hpp"
#include "core/platform/platform.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "core/runtime/engine.hpp"
#include "core/trace/trace_file.hpp"

namespace {

using namespace driftscope;

constexpr std::int64_t max_bytes_of_listed = 64 << 20;  // they come from a fuzzer

struct Arguments {
  std::string model;
  std::string list;
  std::string input;
  std::uint64_t seed = 42;
  std::map<std::string, std::string> options;  // of the engine
};

Result<Arguments> read_arguments(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.rfind("--", 0) != 0) {
      arguments.model = word;
      continue;
    }
    if (i + 1 == argc) return bad_input(word + " needs a value");
    const std::string value = argv[++i];
    if (word == "--input")
      arguments.input = value;
    else if (word == "--list")
      arguments.list = value;
    else if (word == "--threads" || word == "--simd")
      arguments.options[word.substr(2)] = value;
    else if (word == "--seed") {
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), arguments.seed);
      if (error != std::errc{} || end != value.data() + value.size())
        return bad_input("--seed " + value + ": expected a whole number");
    } else {
      return bad_input("unknown option " + word);
    }
  }
  if (arguments.model.empty() && arguments.list.empty())
    return bad_input(
        "usage: driftscope_digest MODEL.onnx | --list FILE [--seed N | --input FILE.safetensors] "
        "[--threads N] [--simd BITS]");
  return arguments;
}

Result<std::vector<std::byte>> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return io_error("cannot read " + path);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto bytes = std::as_bytes(std::span(text));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

std::string digest(const Tensor& tensor) {
  if (tensor.dtype() != DType::float32) return sha256_hex(tensor.bytes());
  const auto values = tensor.values<float>();
  std::vector<float> canonical(values.begin(), values.end());
  for (float& x : canonical)
    if (std::isnan(x)) x = std::bit_cast<float>(0x7fc00000u);
  return sha256_hex(std::as_bytes(std::span(canonical)));
}

class Printer final : public TraceSink {
 public:
  explicit Printer(const Graph& graph) : graph_(graph) {}
  [[nodiscard]] bool wants(ValueId /*value*/) const override { return true; }
  Status value(ValueId value, const Tensor& tensor) override {
    lines += fmt::format("{} {} {}\n", graph_.value_name(value), shape_text(tensor.shape()), digest(tensor));
    return {};
  }
  void node_done(NodeId /*node*/, std::int64_t /*time_ns*/) override {}

  std::string lines;

 private:
  const Graph& graph_;
};

/// A line for each value, and what ran.
Result<std::string> digest_model(const std::string& path, const Arguments& arguments) {
  DRIFTSCOPE_TRY(const auto bytes, read_file(path));
  DRIFTSCOPE_TRY(const Model model, read_onnx(bytes));
  DRIFTSCOPE_TRY(const Graph graph, build_graph(model));
  NamedInputs inputs;
  if (arguments.input.empty()) {
    // As the program makes them.
    DRIFTSCOPE_TRY(const Graph inferred, infer_shapes(graph));
    DRIFTSCOPE_TRY(FoundInputs found, found_inputs(inferred, arguments.seed));
    inputs = std::move(found.tensors);
  } else {
    DRIFTSCOPE_TRY(const auto input_bytes, read_file(arguments.input));
    DRIFTSCOPE_TRY(Trace file, read_trace(input_bytes));
    inputs = std::move(file.tensors);
  }
  DRIFTSCOPE_TRY(BoundInputs bound, bind_inputs(graph, inputs));
  DRIFTSCOPE_TRY(const Engine* const engine, find_engine("strict"));
  DRIFTSCOPE_TRY(const EngineOptions options, read_engine_options(engine->info(), arguments.options));
  DRIFTSCOPE_TRY(const auto session, engine->prepare(bound.graph, options));
  const RanWith ran = session->ran_with();
  if (arguments.list.empty()) {
    fmt::print("# ran: {} on {}, {}, {} of {} threads\n", ran.engine, platform_name(), ran.instruction_set,
               ran.threads_real, ran.threads_asked);
    fmt::print("# model: {}\n", model.sha256);
  }
  Printer printer(*bound.graph);
  DRIFTSCOPE_TRY(const auto outputs, run_to_end(*session, std::move(bound.inputs), printer));
  return std::move(printer.lines);
}

Status run(int argc, char** argv) {
  DRIFTSCOPE_TRY(const Arguments arguments, read_arguments(argc, argv));
  if (arguments.list.empty()) {
    DRIFTSCOPE_TRY(const std::string lines, digest_model(arguments.model, arguments));
    fmt::print("{}", lines);
    return {};
  }
  std::ifstream list(arguments.list);
  if (!list) return io_error("cannot read " + arguments.list);
  for (std::string path; std::getline(list, path);) {
    fmt::print("{}: ", path);
    (void)std::fflush(stdout);  // the name of one that ends the program
    limit_alive_tensors(alive_tensors().bytes + max_bytes_of_listed, "this program");
    const auto lines = digest_model(path, arguments);
    fmt::print("{}\n", lines.ok() ? sha256_hex(std::as_bytes(std::span(*lines))) : "refused");
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const Status status = run(argc, argv);
  if (status.ok()) return 0;
  fmt::print(stderr, "driftscope_digest: {}\n", status.error().message);
  return 2;
}
