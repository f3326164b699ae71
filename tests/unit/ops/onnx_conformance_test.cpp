// The operators' own conformance cases, as ONNX ships them (Debian: package libonnx-testdata). The
// environment variable DRIFTSCOPE_ONNX_DATA names another folder.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "core/eval/infer_shapes.hpp"
#include "core/graph/build.hpp"
#include "core/model/onnx_reader.hpp"
#include "unit/ops/graph_case.hpp"

namespace driftscope::test::onnx_conformance_test {
namespace {

namespace fs = std::filesystem;

std::string data_folder() {
  const char* given = std::getenv("DRIFTSCOPE_ONNX_DATA");
  return given != nullptr ? given : "/usr/share/libonnx-testdata/data";
}

// Valid models that must be rejected as unsupported by one scalar at least, with a part of the message.
const std::map<std::string, std::string> rejected = {
    {"test_batchnorm_epsilon_training_mode", "training_mode"},
    {"test_batchnorm_example_training_mode", "training_mode"},
    {"test_bernoulli", "every runtime has its own"},
    {"test_bernoulli_double", "every runtime has its own"},
    {"test_bernoulli_double_expanded", "every runtime has its own"},
    {"test_bernoulli_expanded", "every runtime has its own"},
    {"test_bernoulli_seed", "every runtime has its own"},
    {"test_bernoulli_seed_expanded", "every runtime has its own"},
    // The number of iterations is a rounded quotient, for which there is no bound.
    {"test_range_float_type_positive_delta_expanded", "rounding in earlier nodes"},
    {"test_training_dropout", "training_mode"},
    {"test_training_dropout_default", "training_mode"},
    {"test_training_dropout_default_mask", "training_mode"},
    {"test_training_dropout_mask", "training_mode"},
};

// The windows' results were computed with 3.1415 for π, their expanded forms carry yet another one;
// these cases truncate to bfloat16 instead of rounding.
double tolerance_of(const std::string& name) {
  if (name.find("FLOAT_to_BFLOAT16") != std::string::npos) return 0x1p-7;
  const bool is_window = name.find("window") != std::string::npos && !name.starts_with("test_stft");
  return is_window ? 1e-3 : 0.0;
}

// Cases whose wanted numbers were written down with four digits after the point.
const std::set<std::string> four_digits = {"test_gridsample_bicubic", "test_roialign_aligned_false",
                                           "test_roialign_aligned_true"};

struct Tally {
  int run = 0;
  std::map<std::string, int> operators;                  // of the cases that ran
  std::map<std::string, std::set<std::string>> skipped;  // why → cases
};

std::vector<fs::path> sorted_children(const fs::path& folder) {
  std::vector<fs::path> children;
  for (const auto& entry : fs::directory_iterator(folder)) children.push_back(entry.path());
  std::sort(children.begin(), children.end());
  return children;
}

Result<Tensor> read_pb(const fs::path& path) {
  DRIFTSCOPE_TRY(const auto bytes, read_file(path.string()));
  DRIFTSCOPE_TRY(NamedTensor named, read_tensor_proto(bytes));
  return std::move(named.tensor);
}

// input_0.pb, input_1.pb, … for the values in this order.
Result<std::vector<NamedTensor>> read_set(const fs::path& folder, const std::string& prefix,
                                          const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<NamedTensor> tensors;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const fs::path path = folder / fmt::format("{}_{}.pb", prefix, i);
    if (!fs::exists(path)) continue;
    DRIFTSCOPE_TRY(Tensor tensor, read_pb(path));
    // ONNX writes bfloat16 as the bits that it is stored in.
    if (graph.values[ids[i]].dtype == DType::bfloat16 && tensor.dtype() == DType::uint16) {
      DRIFTSCOPE_TRY(tensor, Tensor::from_bytes(DType::bfloat16, tensor.shape(), tensor.bytes()));
    }
    tensors.push_back({graph.values[ids[i]].name, std::move(tensor)});
  }
  return tensors;
}

// The first operator of the graph, or of a graph inside it, that this build does not have.
std::string unknown_operator(const ModelGraph& graph) {
  for (const ModelNode& node : graph.nodes) {
    if (operators().find(node.domain, node.op_type) == nullptr) return node.op_type;
    for (const Attribute& attribute : node.attributes)
      if (const auto* inner = std::get_if<std::shared_ptr<const ModelGraph>>(&attribute.value))
        if (std::string op = unknown_operator(**inner); !op.empty()) return op;
  }
  return "";
}

void run_case(const fs::path& folder, ThreadPool& threads, Tally& tally) {
  const std::string name = folder.filename().string();
  const auto bytes = read_file((folder / "model.onnx").string());
  REQUIRE_MESSAGE(bytes.ok(), bytes.error().message);
  const auto model = read_onnx(*bytes);
  if (!model.ok()) {
    const bool typed = model.error().message.find("its type is") != std::string::npos;
    tally.skipped[typed ? "sequence and optional types" : model.error().message].insert(name);
    return;
  }
  const auto& others = model->graph.other_outputs;
  const bool strings = std::ranges::all_of(
      others, [](const UnsupportedTensor& output) { return output.reason == "tensor of strings"; });
  if (!strings) {
    tally.skipped["sequence and optional types"].insert(name);
    return;
  }
  if (const std::string op = unknown_operator(model->graph); !op.empty()) {
    tally.skipped["no operator " + op].insert(name);
    return;
  }
  if (!others.empty()) {
    tally.skipped["not tensors"].insert(name);
    return;
  }
  INFO(name);
  const auto built = build_graph(*model);
  REQUIRE_MESSAGE(built.ok(), built.error().message);
  for (const fs::path& set : sorted_children(folder)) {
    if (!set.filename().string().starts_with("test_data_set_")) continue;
    auto inputs = read_set(set, "input", *built, built->inputs);
    auto outputs = read_set(set, "output", *built, built->outputs);
    if (!inputs.ok() || !outputs.ok()) {
      tally.skipped["not tensors"].insert(name);
      return;
    }
    const auto expected_rejection = rejected.find(name);
    const double wanted_error = four_digits.contains(name) ? 1e-4 : 0.0;
    const auto problems =
        check_case({name, *built, *inputs, *outputs, tolerance_of(name), wanted_error}, threads);
    if (expected_rejection != rejected.end()) {
      REQUIRE(!problems.ok());
      CHECK(problems.error().kind == ErrorKind::unsupported);
      CHECK(problems.error().message.find(expected_rejection->second) != std::string::npos);
      continue;
    }
    CHECK_MESSAGE(problems.ok(), problems.error().message);
    if (!problems.ok()) continue;
    for (const std::string& problem : *problems) FAIL_CHECK(problem);
    const auto inferred = infer_shapes(*built);
    CHECK_MESSAGE(inferred.ok(), inferred.error().message);
  }
  ++tally.run;
  std::set<std::string> kinds;
  for (const Node& node : built->nodes) kinds.insert(node.op_type);
  for (const std::string& kind : kinds) ++tally.operators[kind];
}

}  // namespace

TEST_CASE("OnnxConformance_AllCasesOfKnownOperators_AgreeInEveryScalar" * doctest::test_suite("slow")) {
  const fs::path root = data_folder();
  if (!fs::is_directory(root)) {
    FAIL("the ONNX conformance cases are not at "
         << root.string()
         << ": install the package libonnx-testdata, or set DRIFTSCOPE_ONNX_DATA to their folder");
  }
  ThreadPool threads(2);
  Tally tally;
  for (const char* part : {"node", "simple", "pytorch-operator", "pytorch-converted"})
    for (const fs::path& folder : sorted_children(root / part))
      if (fs::exists(folder / "model.onnx")) run_case(folder, threads, tally);

  std::string counts;
  for (const auto& [op, count] : tally.operators) counts += fmt::format(" {} {}", op, count);
  MESSAGE(fmt::format("{} cases run:{}", tally.run, counts));
  int without_operator = 0;
  for (const auto& [why, names] : tally.skipped) {
    if (why.starts_with("no operator ")) {
      without_operator += static_cast<int>(names.size());
      continue;
    }
    std::string list;
    for (const std::string& name : names) list += " " + name;
    MESSAGE(fmt::format("{} skipped ({}):{}", names.size(), why, list));
  }
  MESSAGE(fmt::format("{} skipped: their operator is not in this build", without_operator));
  // Comparing nothing is a failure.
  CHECK(tally.run >= 830);
  for (const char* op : {"Add",
                         "ArgMax",
                         "AveragePool",
                         "BatchNormalization",
                         "BitShift",
                         "Cast",
                         "Clip",
                         "Concat",
                         "Constant",
                         "Conv",
                         "CumSum",
                         "Dropout",
                         "Equal",
                         "Erf",
                         "Flatten",
                         "Gemm",
                         "GlobalAveragePool",
                         "Identity",
                         "InstanceNormalization",
                         "LRN",
                         "LayerNormalization",
                         "LogSoftmax",
                         "MatMul",
                         "MaxPool",
                         "Mean",
                         "Mod",
                         "Mul",
                         "NegativeLogLikelihoodLoss",
                         "PRelu",
                         "Pad",
                         "Pow",
                         "ReduceMean",
                         "ReduceSum",
                         "Relu",
                         "Reshape",
                         "Sigmoid",
                         "Softmax",
                         "SoftmaxCrossEntropyLoss",
                         "Tanh",
                         "Transpose",
                         "Where",
                         "Xor"})
    CHECK_MESSAGE(tally.operators[op] > 0, op);
}

}  // namespace driftscope::test::onnx_conformance_test
