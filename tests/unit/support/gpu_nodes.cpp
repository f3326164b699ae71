#include "tests/unit/support/gpu_nodes.hpp"

#include <algorithm>
#include <map>

#include "core/eval/operator.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "tests/unit/support/gpu_node_case.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test {
namespace {

std::vector<Attribute> window(GpuNodeCase& it, std::size_t axes, std::int64_t kernel) {
  std::vector<std::int64_t> pads(2 * axes, std::min<std::int64_t>(it.below(2), kernel - 1));
  return {ints("kernel_shape", std::vector<std::int64_t>(axes, kernel)), ints("pads", pads),
          ints("strides", std::vector<std::int64_t>(axes, it.one_of({1, 2})))};
}

void convolution(GpuNodeCase& it, const std::string& op) {
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

void pool(GpuNodeCase& it, const std::string& op) {
  it.begin(it.maybe() ? 3 : 4);
  auto attributes = window(it, it.shape.size() - 2, it.one_of({2, 3}));
  if (op == "AveragePool") attributes.push_back(integer("count_include_pad", it.maybe()));
  it.add(op, {it.x}, attributes);
}

void reduction(GpuNodeCase& it, const std::string& op) {
  if (it.maybe()) {
    it.begin(4);
  } else {
    it.shape = {it.one_of({1, 3}), it.one_of({5, 3000}), it.one_of({1, 3, 4})};
    it.model.input("x", DType::float32, {it.shape[0], it.shape[1], it.shape[2]});
  }
  it.model.opset(12);  // the axes are an attribute
  it.add(op, {it.x}, {ints("axes", {it.below(std::ssize(it.shape))}), integer("keepdims", it.maybe())});
}

void softmax(GpuNodeCase& it, const std::string& op) {
  it.begin(static_cast<std::size_t>(it.one_of({2, 4})));
  it.add(op, {it.x}, {integer("axis", it.below(std::ssize(it.shape)))});
}

void matrix_product(GpuNodeCase& it, const std::string& op) {
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

void recurrence(GpuNodeCase& it, const std::string& op) {
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

void normalization(GpuNodeCase& it, const std::string& op) {
  it.begin(4);
  const bool rms = op == "RMSNormalization" || op == "SimplifiedLayerNormalization";
  if (op == "RMSNormalization") it.model.opset(23);
  const std::int64_t of = rms || op == "LayerNormalization" ? it.shape[3] : it.shape[1];
  std::vector<std::string> inputs = {it.x, it.constant({of})};
  if (!rms) inputs.push_back(it.constant({of}));
  if (op == "BatchNormalization") {
    const std::vector<float> ones(static_cast<std::size_t>(of), 1.0f);
    inputs.insert(inputs.end(), {it.constant({of}), it.constant(tensor<float>({of}, ones))});
  }
  it.add(op, inputs);
}

void skip_normalization(GpuNodeCase& it, const std::string& op) {
  it.begin(static_cast<std::size_t>(it.one_of({2, 3})));
  const Shape row = {it.shape.back()};
  Shape skip = it.shape;
  if (skip.size() == 3 && it.maybe()) skip[0] = 1;
  std::vector<std::string> inputs = {it.x, it.value(skip), it.operand(row)};
  if (op == "com.microsoft.SkipLayerNormalization") inputs.push_back(it.maybe() ? it.operand(row) : "");
  if (it.maybe()) inputs.push_back(it.operand(row));
  if (it.maybe())
    it.add_as(op, inputs, {"y", "", "", "sum"}, {});
  else
    it.add(op, inputs);
}

void nbits_product(GpuNodeCase& it, const std::string& op) {
  const std::int64_t k = it.one_of({3, 8, 66, 256});
  const std::int64_t n = it.one_of({1, 4, 6, 33, 1030});
  it.begin_matrix(it.one_of({1, 2, 40}), k);
  const std::int64_t blocks = (k + 15) / 16;
  const std::vector<std::uint8_t> bytes(static_cast<std::size_t>(n * blocks * 8), 0);
  std::vector<std::string> inputs = {it.x, it.constant(tensor<std::uint8_t>({n, blocks, 8}, bytes)),
                                     it.constant({n * blocks})};
  if (it.maybe()) inputs.insert(inputs.end(), {"", "", it.constant({n})});
  it.add(op, inputs, {integer("K", k), integer("N", n), integer("bits", 4), integer("block_size", 16)});
}

void rotation(GpuNodeCase& it, const std::string& op) {
  const bool own = op == "RotaryEmbedding";
  const std::int64_t heads = it.one_of({1, 3});
  const std::int64_t size = it.one_of({4, 10});
  const std::int64_t half = size / 2 - it.below(2);
  it.shape = it.maybe() ? Shape{2, 5, heads * size} : Shape{2, heads, 5, size};
  it.model.input("x", DType::float32, std::vector<Dim>(it.shape.begin(), it.shape.end()));
  const bool given = !own || it.maybe();
  const Shape cache = given ? Shape{8, half} : Shape{2, 5, half};
  const std::vector<std::string> caches = {it.constant(cache), it.constant(cache)};
  const std::string positions =
      given ? it.value(own || it.maybe() ? Shape{2, 5} : Shape{1}, DType::int64) : "";
  std::vector<std::string> inputs = {"x"};
  if (!own) inputs.push_back(positions);
  inputs.insert(inputs.end(), caches.begin(), caches.end());
  if (own && given) inputs.push_back(positions);
  if (own) it.model.opset(23);
  it.add(op, inputs,
         {integer("num_heads", heads), integer("rotary_embedding_dim", 2 * half),
          integer("interleaved", it.maybe())});
}

// Gelu and its relatives: some with a bias of the last axis, or a second factor.
void activation(GpuNodeCase& it, const std::string& op) {
  it.begin(static_cast<std::size_t>(it.one_of({1, 3, 4})));
  std::vector<std::string> inputs = {it.x};
  std::vector<Attribute> attributes;
  if (op == "SwiGLU") inputs.push_back(it.operand(it.shape));
  if (op == "com.microsoft.BiasGelu" || (op == "com.microsoft.FastGelu" && it.maybe()))
    inputs.push_back(it.operand({it.shape.back()}));
  if (op == "Gelu") attributes.push_back(text("approximate", it.maybe() ? "tanh" : "none"));
  if (op == "Swish") it.model.opset(24);
  if (op == "SwiGLU") it.model.opset(28);
  it.add(op, inputs, attributes);
}

void moved(GpuNodeCase& it, const std::string& op) {
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

void blocks(GpuNodeCase& it, const std::string& op) {
  it.shape = {1, 8, 4, 6};
  it.model.input("x", DType::float32, {1, 8, 4, 6});
  it.add(op, {it.x}, {integer("blocksize", 2)});
}

void choice(GpuNodeCase& it, const std::string& op) {
  it.begin(4);
  const Shape other = it.maybe() ? it.shape : Shape{it.shape[1], 1, 1};
  it.add(op, {it.value(it.maybe() ? it.shape : Shape{it.shape[3]}, DType::boolean), it.x, it.operand(other)});
}

const std::map<std::string, GpuNodeRecipe>& recipes() {
  static const std::map<std::string, GpuNodeRecipe> all = [] {
    std::map<std::string, GpuNodeRecipe> made;
    const auto put = [&](std::initializer_list<const char*> ops, const GpuNodeRecipe& recipe) {
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
    put({"LayerNormalization", "InstanceNormalization", "BatchNormalization", "RMSNormalization",
         "SimplifiedLayerNormalization"},
        normalization);
    put({"com.microsoft.SkipLayerNormalization", "com.microsoft.SkipSimplifiedLayerNormalization"},
        skip_normalization);
    put({"com.microsoft.MatMulNBits"}, nbits_product);
    put({"RotaryEmbedding", "com.microsoft.RotaryEmbedding"}, rotation);
    put({"Gelu", "com.microsoft.Gelu", "com.microsoft.BiasGelu", "com.microsoft.FastGelu",
         "com.microsoft.QuickGelu", "Swish", "SwiGLU"},
        activation);
    put({"Slice", "Split", "Expand", "Tile", "Pad", "Concat", "Gather", "Transpose", "Reshape", "Squeeze",
         "Unsqueeze", "Upsample", "Resize"},
        moved);
    put({"DepthToSpace", "SpaceToDepth"}, blocks);
    put({"Where"}, choice);
    put({"LRN"}, [](GpuNodeCase& it, const std::string& op) {
      it.begin(4);
      it.add(op, {it.x}, {integer("size", 3)});
    });
    made.merge(attention_recipes());
    made.merge(integer_recipes());
    return made;
  }();
  return all;
}

// Of the operator's other inputs, each of x's shape, a row of channels, one of the last axis, or a number.
void elementwise(GpuNodeCase& it, const std::string& op) {
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
void follow(GpuNodeCase& it, const Shape& y) {
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

}  // namespace

std::shared_ptr<const Graph> random_gpu_graph(const std::string& op, Rng& rng) {
  const auto recipe = recipes().find(op);
  const std::uint64_t seed = rng.next();
  Shape y;
  for (const bool followed : {false, true}) {
    Rng same(seed);
    GpuNodeCase it{same};
    (recipe == recipes().end() ? GpuNodeRecipe(elementwise) : recipe->second)(it, op);
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

}  // namespace driftscope::test
