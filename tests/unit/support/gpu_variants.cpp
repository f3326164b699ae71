#include "tests/unit/support/gpu_variants.hpp"

#include <fmt/format.h>

#include <functional>
#include <set>

#include "core/base/rng.hpp"
#include "core/engines/gpu/operator_table.hpp"
#include "core/engines/gpu/session.hpp"
#include "core/engines/webgl/lowering.hpp"
#include "core/engines/webgpu/lowering.hpp"
#include "core/eval/operator.hpp"
#include "core/lowering/simplify.hpp"
#include "core/platform/platform.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test {
namespace {

// Keeps what it should compile.
class PlanningDevice final : public gpu::Device {
 public:
  explicit PlanningDevice(ShaderVariants& variants) : variants_(variants) {
    facts_.layers = 4;
    facts_.max_groups = 65'535;
    facts_.max_object_bytes = std::int64_t{1} << 31;
  }
  Result<bool> ready() override { return true; }
  bool lost() const override { return false; }
  void give_up() override {}
  const gpu::DeviceFacts& facts() const override { return facts_; }
  Result<gpu::ObjectId> make_object(gpu::ObjectSize, std::string_view) override { return nothing(); }
  void release_object(gpu::ObjectId) override {}
  Status write(gpu::ObjectId, std::span<const std::byte>, std::int64_t) override { return nothing(); }
  gpu::ProgramId make_program(std::string_view label, std::string_view code) override {
    std::string structure;
    for (const char c : code)
      if (c < '0' || c > '9')
        structure += c;
      else if (structure.empty() || structure.back() != '#')
        structure += '#';
    const auto file = label.substr(label.rfind('(') + 1);
    if (structures_.insert(std::move(structure)).second)
      variants_.all.push_back({std::string(file.substr(0, file.rfind(')'))), std::string(code)});
    return ++last_;
  }
  gpu::ProgramCounts program_counts() const override { return {}; }
  Result<gpu::RecordingId> record(std::vector<gpu::Command>, bool) override { return nothing(); }
  void release_recording(gpu::RecordingId) override {}
  Status submit(gpu::RecordingId) override { return nothing(); }
  Result<std::optional<gpu::Finished>> finished(gpu::RecordingId) override { return nothing(); }
  Status read(gpu::RecordingId, std::int64_t, std::span<std::byte>) override { return nothing(); }
  std::int64_t memory() const override { return 0; }

 private:
  static Error nothing() { return internal_error("a device that only plans"); }

  ShaderVariants& variants_;
  gpu::DeviceFacts facts_;
  std::set<std::string> structures_;
  gpu::ProgramId last_ = 0;
};

// A random node behind a value x, which lies channels last or not.
struct Case {
  Rng& rng;
  ModelBuilder model = ModelBuilder();
  std::string x = "x";
  Shape shape = {};
  int names = 0;

  std::int64_t one_of(std::initializer_list<std::int64_t> of) { return of.begin()[rng.below(of.size())]; }
  bool maybe() { return rng.below(2) == 0; }
  std::int64_t below(std::int64_t limit) { return one_of({0, 1, 2, 3, 4, 5, 6, 7}) % limit; }
  std::string name() { return fmt::format("v{}", names++); }

  std::string constant(const Tensor& tensor) {
    model.initializer(name(), tensor);
    return fmt::format("v{}", names - 1);
  }
  /// Zeros: nothing is computed with them.
  std::string constant(Shape of) {
    auto made = Tensor::make(DType::float32, std::move(of), "a constant");
    REQUIRE(made.ok());
    return constant(*made);
  }
  std::string integers(const std::vector<std::int64_t>& of) {
    return constant(tensor<std::int64_t>({std::ssize(of)}, of));
  }
  std::string value(const Shape& of, DType dtype = DType::float32) {
    const std::string made = name();
    model.input(made, dtype, std::vector<Dim>(of.begin(), of.end()));
    return made;
  }
  /// A constant or not.
  std::string operand(const Shape& of) { return maybe() ? constant(of) : value(of); }

  void begin_matrix(std::int64_t rows, std::int64_t columns) {
    shape = {rows, columns};
    model.input("x", DType::float32, {rows, columns});
  }
  /// Of this rank; of 3 and more sometimes behind a convolution.
  void begin(std::size_t rank) {
    shape = {one_of({1, 2}), one_of({1, 3, 4, 8, 80})};
    while (shape.size() < rank) shape.push_back(one_of({3, 4, 7, 8}));
    if (rank == 1) shape = {one_of({1, 7, 80})};
    model.input("x", DType::float32, std::vector<Dim>(shape.begin(), shape.end()));
    if (rank < 3 || rank > 4 || maybe()) return;
    Shape w = {shape[1], shape[1]};
    w.resize(rank, 1);
    x = name();
    model.node("Conv", {"x", constant(w)}, {x});
  }
  void add(const std::string& op, const std::vector<std::string>& inputs,
           const std::vector<Attribute>& attributes = {}, int outputs = 1) {
    std::vector<std::string> made = {"y"};
    for (int i = 1; i < outputs; ++i) made.push_back(fmt::format("y{}", i));
    model.node(op, inputs, made, attributes);
  }
};

// Attributes and operands of operators that need some. All others get operands that are broadcast to x.
using Recipe = std::function<void(Case&, const std::string& op)>;

std::vector<Attribute> window(Case& it, std::size_t axes, std::int64_t kernel) {
  std::vector<std::int64_t> pads(2 * axes, std::min<std::int64_t>(it.below(2), kernel - 1));
  return {ints("kernel_shape", std::vector<std::int64_t>(axes, kernel)), ints("pads", pads),
          ints("strides", std::vector<std::int64_t>(axes, it.one_of({1, 2})))};
}

void convolution(Case& it, const std::string& op) {
  it.begin(it.maybe() ? 3 : 4);
  const std::int64_t channels = it.shape[1];
  const std::int64_t kernel = it.one_of({1, 1, 2});
  const std::int64_t group = it.rng.below(3) != 0              ? 1
                             : channels % 4 == 0 && it.maybe() ? channels / 4
                                                               : channels;
  const std::int64_t outputs = group * it.one_of({1, 1, 4, 7, 160});
  Shape w = op == "Conv" ? Shape{outputs, channels / group} : Shape{channels, outputs / group};
  w.resize(it.shape.size(), kernel);
  auto attributes = window(it, it.shape.size() - 2, kernel);
  attributes.push_back(integer("group", group));
  std::vector<std::string> inputs = {it.x, it.constant(w)};
  if (it.maybe()) inputs.push_back(it.constant({outputs}));
  it.add(op, inputs, attributes);
}

void pool(Case& it, const std::string& op) {
  it.begin(it.maybe() ? 3 : 4);
  auto attributes = window(it, it.shape.size() - 2, it.one_of({2, 3}));
  if (op == "AveragePool") attributes.push_back(integer("count_include_pad", it.maybe()));
  it.add(op, {it.x}, attributes);
}

void reduction(Case& it, const std::string& op) {
  if (it.maybe()) {
    it.begin(4);
  } else {
    it.shape = {it.one_of({1, 3}), it.one_of({5, 3000}), it.one_of({1, 3, 4})};
    it.model.input("x", DType::float32, {it.shape[0], it.shape[1], it.shape[2]});
  }
  it.model.opset(12);  // the axes are an attribute
  it.add(op, {it.x}, {ints("axes", {it.below(std::ssize(it.shape))}), integer("keepdims", it.maybe())});
}

void softmax(Case& it, const std::string& op) {
  it.begin(static_cast<std::size_t>(it.one_of({2, 4})));
  it.add(op, {it.x}, {integer("axis", it.below(std::ssize(it.shape)))});
}

void matrix_product(Case& it, const std::string& op) {
  const std::int64_t m = it.one_of({1, 2, 3, 5, 40, 1100});
  const std::int64_t k = m > 100 ? it.one_of({3, 8}) : it.one_of({1, 3, 8, 66, 68, 20'000});
  const std::int64_t n = k > 1000 ? it.one_of({3, 8}) : it.one_of({1, 4, 6, 8, 24, 33, 1030, 1100});
  const std::int64_t batch = op == "MatMul" && it.rng.below(3) == 0 ? it.one_of({2, 3}) : 1;
  const bool turned = op == "Gemm" && it.maybe();
  it.begin_matrix(m, k);
  const Shape of_b = turned ? Shape{n, k} : batch > 1 ? Shape{batch, k, n} : Shape{k, n};
  std::vector<std::string> inputs = {it.x, it.operand(of_b)};
  if (op == "Gemm" && it.maybe()) inputs.push_back(it.constant({n}));
  it.add(op, inputs, turned ? std::vector<Attribute>{integer("transB", 1)} : std::vector<Attribute>());
}

void recurrence(Case& it, const std::string& op) {
  it.shape = {3, 2, 5};
  it.model.input("x", DType::float32, {3, 2, 5});
  const std::int64_t gates = op == "LSTM" ? 4 : op == "GRU" ? 3 : 1;
  const std::int64_t hidden = it.one_of({4, 6});
  const std::int64_t directions = it.one_of({1, 2});
  std::vector<std::string> inputs = {"x", it.constant({directions, gates * hidden, 5}),
                                     it.constant({directions, gates * hidden, hidden}),
                                     it.maybe() ? it.constant({directions, 2 * gates * hidden}) : ""};
  std::vector<Attribute> attributes = {integer("hidden_size", hidden)};
  if (directions == 2) attributes.push_back(text("direction", "bidirectional"));
  if (it.maybe()) attributes.push_back(real("clip", 0.5f));
  if (it.maybe()) {
    inputs.insert(inputs.end(), {"", it.value({directions, 2, hidden})});
    if (op == "LSTM") inputs.push_back(it.value({directions, 2, hidden}));
  }
  if (op == "LSTM" && it.maybe()) {
    while (inputs.size() < 7) inputs.emplace_back();
    inputs.push_back(it.constant({directions, 3 * hidden}));
    attributes.push_back(integer("input_forget", it.maybe()));
  }
  if (op == "GRU") attributes.push_back(integer("linear_before_reset", it.maybe()));
  const char* const kinds[] = {"Relu",   "Tanh",       "Sigmoid",     "Softplus",  "Softsign",
                               "Affine", "ScaledTanh", "HardSigmoid", "LeakyRelu", "Elu"};
  const std::size_t activations = op == "LSTM" ? 3 : op == "GRU" ? 2 : 1;
  const std::vector<std::string> names(activations * static_cast<std::size_t>(directions),
                                       kinds[it.rng.below(std::size(kinds))]);
  if (it.maybe()) attributes.push_back(texts("activations", names));
  it.add(op, inputs, attributes, op == "LSTM" ? 3 : 2);
}

void normalization(Case& it, const std::string& op) {
  it.begin(4);
  const std::int64_t of = op == "LayerNormalization" ? it.shape[3] : it.shape[1];
  std::vector<std::string> inputs = {it.x, it.constant({of}), it.constant({of})};
  if (op == "BatchNormalization") {
    const std::vector<float> ones(static_cast<std::size_t>(of), 1.0f);
    inputs.insert(inputs.end(), {it.constant({of}), it.constant(tensor<float>({of}, ones))});
  }
  it.add(op, inputs);
}

void moved(Case& it, const std::string& op) {
  it.begin(4);
  const Shape& s = it.shape;
  const std::int64_t axis = it.below(4);
  const auto size = [&](std::int64_t of) { return s[static_cast<std::size_t>(of)]; };
  if (op == "Slice") {
    const std::int64_t step = it.one_of({1, 1, -1});
    it.add(op, {it.x, it.integers({step > 0 ? 0 : -1}), it.integers({step > 0 ? size(axis) : -100}),
                it.integers({axis}), it.integers({step})});
  } else if (op == "Split") {
    it.add(op, {it.x}, {integer("axis", 3)}, 2);
  } else if (op == "Expand") {
    it.model.node("ReduceMax", {it.x}, {"r"}, {integer("keepdims", 1)});
    it.add(op, {it.maybe() ? "r" : it.x, it.integers(s)});
  } else if (op == "Tile") {
    it.add(op, {it.x, it.integers({1, it.one_of({1, 2}), 1, 2})});
  } else if (op == "Pad") {
    std::vector<std::int64_t> pads(8, 0);
    pads[static_cast<std::size_t>(axis)] = it.one_of({-1, 1, 2});
    const float fill = it.maybe() ? 0.5f : std::numeric_limits<float>::quiet_NaN();
    it.add(op, {it.x, it.integers(pads), it.constant(tensor<float>({}, {fill}))});
  } else if (op == "Concat") {
    it.add(op, {it.x, it.maybe() ? it.x : it.value(s)}, {integer("axis", axis)});
  } else if (op == "Gather") {
    it.add(op, {it.x, it.value({2}, DType::int64)}, {integer("axis", axis)});
  } else if (op == "Transpose") {
    it.add(op, {it.x}, {ints("perm", it.maybe() ? Shape{0, 2, 3, 1} : Shape{3, 1, 0, 2})});
  } else if (op == "Reshape") {
    it.add(op, {it.x, it.integers({element_count(s)})});
  } else if (op == "Squeeze" || op == "Unsqueeze") {
    it.model.opset(12);
    it.add(op, {it.x}, {ints("axes", {0})});
  } else if (op == "Upsample") {
    it.model.opset(9);
    it.add(op, {it.x, it.constant(tensor<float>({4}, {1, 1, 2, 2}))},
           {text("mode", it.maybe() ? "linear" : "nearest")});
  } else if (op == "Resize") {
    it.add(op, {it.x, "", "", it.integers({s[0], s[1], 2 * s[2], s[3] + 1})},
           {text("mode", it.maybe() ? "linear" : "nearest"),
            text("coordinate_transformation_mode", "asymmetric")});
  }
}

void blocks(Case& it, const std::string& op) {
  it.shape = {1, 8, 4, 6};
  it.model.input("x", DType::float32, {1, 8, 4, 6});
  it.add(op, {it.x}, {integer("blocksize", 2)});
}

void choice(Case& it, const std::string& op) {
  it.begin(4);
  const Shape other = it.maybe() ? it.shape : Shape{it.shape[1], 1, 1};
  it.add(op, {it.value(it.maybe() ? it.shape : Shape{it.shape[3]}, DType::boolean), it.x, it.operand(other)});
}

const std::map<std::string, Recipe>& recipes() {
  static const std::map<std::string, Recipe> all = [] {
    std::map<std::string, Recipe> made;
    const auto put = [&](std::initializer_list<const char*> ops, const Recipe& recipe) {
      for (const char* op : ops) made[op] = recipe;
    };
    put({"Conv", "ConvTranspose"}, convolution);
    put({"MaxPool", "AveragePool"}, pool);
    put({"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
         "ReduceSumSquare"},
        reduction);
    put({"Softmax", "LogSoftmax"}, softmax);
    put({"Gemm", "MatMul"}, matrix_product);
    put({"RNN", "GRU", "LSTM"}, recurrence);
    put({"LayerNormalization", "InstanceNormalization", "BatchNormalization"}, normalization);
    put({"Slice", "Split", "Expand", "Tile", "Pad", "Concat", "Gather", "Transpose", "Reshape", "Squeeze",
         "Unsqueeze", "Upsample", "Resize"},
        moved);
    put({"DepthToSpace", "SpaceToDepth"}, blocks);
    put({"Where"}, choice);
    put({"LRN"}, [](Case& it, const std::string& op) {
      it.begin(4);
      it.add(op, {it.x}, {integer("size", 3)});
    });
    return made;
  }();
  return all;
}

// Of the operator's other inputs, each of x's shape, a row of channels, one of the last axis, or a number.
void elementwise(Case& it, const std::string& op) {
  it.begin(static_cast<std::size_t>(it.one_of({1, 3, 4})));
  const Operator* const known = operators().find("", op);
  std::vector<std::string> inputs = {it.x};
  const int fewest = known == nullptr ? 1 : std::max(known->inputs.min, 1);
  const int most =
      known == nullptr || known->inputs.max > 3 ? std::max(fewest, known == nullptr ? 1 : 3) : fewest;
  const int count = it.maybe() ? fewest : most;
  while (std::ssize(inputs) < count) {
    Shape of = it.shape;
    switch (it.rng.below(4)) {
      case 0: of = {it.shape.back()}; break;
      case 1: of = {}; break;
      case 2:
        if (of.size() > 2) {
          of.erase(of.begin());
          std::fill(of.begin() + 1, of.end(), 1);
        }
        break;
      default: break;
    }
    inputs.push_back(it.operand(of));
  }
  it.add(op, inputs);
}

// What may be fused with it.
void follow(Case& it, const Shape& y) {
  std::string last = "y";
  if (it.rng.below(3) == 0) {
    it.model.node("Add", {last, it.value(y)}, {"sum"});
    last = "sum";
  }
  if (it.maybe()) {
    it.model.node("Relu", {last}, {"z"});
    last = "z";
  }
  it.model.output(last);
}

// Whether strict runs none of it.
bool plan(const std::shared_ptr<const Graph>& graph, bool fuse,
          const std::function<Result<lowering::Plan>(Graph&, const std::vector<NodeId>&,
                                                     lowering::LoweringOptions, lowering::Fallback&)>& run) {
  auto simd = choose_simd(0);
  REQUIRE(simd.ok());
  gpu::Resources resources(*std::move(simd), 1);
  std::vector<NodeId> producers;
  for (const Value& value : graph->values) producers.push_back(value.producer);
  resources.graph = lowering::simplified(graph, fuse, resources.fallback.threads());
  const auto made = run(*resources.graph, producers, {.fuse = fuse}, resources.fallback);
  REQUIRE_MESSAGE(made.ok(), made.error().message);
  return made->on_fallback.empty();
}

bool plan_all(const std::shared_ptr<const Graph>& graph, gpu::Api api, gpu::Device& device,
              std::uint64_t tile) {
  bool taken = true;
  for (const bool fuse : {false, true}) {
    if (api == gpu::Api::webgl) {
      taken = plan(graph, fuse,
                   [&](Graph& on, const auto& producers, auto options, auto& fallback) {
                     return webgl::Lowering(on, producers, options, fallback, device).run();
                   }) &&
              taken;
      continue;
    }
    for (const bool for_cpu : {false, true})
      taken = plan(graph, fuse,
                   [&](Graph& on, const auto& producers, auto options, auto& fallback) {
                     webgpu::Lowering lowering(on, producers, options, fallback, device);
                     lowering.choose_for_cpu(for_cpu);
                     lowering.choose_tile(webgpu::large_tiles[tile]);
                     return lowering.run();
                   }) &&
              taken;
  }
  return taken;
}

// Nothing where the random node is not one.
std::shared_ptr<const Graph> random_graph(const std::string& op, Rng& rng) {
  const auto recipe = recipes().find(op);
  const std::uint64_t seed = rng.next();
  Shape y;
  for (const bool followed : {false, true}) {
    Rng same(seed);
    Case it{same};
    (recipe == recipes().end() ? Recipe(elementwise) : recipe->second)(it, op);
    if (followed)
      follow(it, y);
    else
      it.model.output("y");
    const auto model = read_onnx(it.model.bytes());
    if (!model.ok()) return nullptr;
    auto graph = build_graph(*model);
    if (!graph.ok()) return nullptr;
    const auto inputs = seeded_inputs(*graph, 1);
    if (!inputs.ok()) return nullptr;
    const auto bound = bind_inputs(*graph, *inputs);
    if (!bound.ok()) return nullptr;
    if (followed) return bound->graph;
    const auto shape = bound->graph->values[bound->graph->outputs[0]].static_shape();
    if (!shape) return nullptr;
    y = *shape;
  }
  return nullptr;
}

}  // namespace

ShaderVariants shader_variants(gpu::Api api, int quiet) {
  ShaderVariants variants;
  PlanningDevice device(variants);
  for (const auto& [op, lower] : gpu_operators().all()) {
    Rng rng(7);
    int& taken = variants.nodes[op];
    for (int since = 0; since < quiet; ++since) {
      const std::size_t before = variants.all.size();
      const auto graph = random_graph(op, rng);
      if (graph != nullptr && plan_all(graph, api, device, rng.below(webgpu::large_tiles.size()))) ++taken;
      if (variants.all.size() > before) since = 0;
    }
  }
  return variants;
}

}  // namespace driftscope::test
