// Attention of ONNX and com.microsoft on GPU engines, with random heads, groups, caches, masks and windows,
// judged layer by layer.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/ops/shared/domains.hpp"
#include "tests/native/device/gpu_support.hpp"
#include "tests/unit/support/random_tensor.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::gpu_attention_test {
namespace {

const std::string microsoft = std::string(microsoft_domain);

// A node that grows input by input.
struct Attended {
  Rng& rng;
  ModelBuilder model = ModelBuilder();
  NamedInputs given = {};
  std::vector<std::string> inputs = {};
  std::vector<Attribute> attributes = {};

  std::int64_t one_of(std::initializer_list<std::int64_t> of) { return of.begin()[rng.below(of.size())]; }
  bool maybe() { return rng.below(2) == 0; }
  void leave_out() { inputs.emplace_back(); }
  void add(const Tensor& tensor) {
    const std::string name = fmt::format("in{}", inputs.size());
    model.input(name, tensor.dtype(), std::vector<Dim>(tensor.shape().begin(), tensor.shape().end()));
    given.push_back({name, tensor});
    inputs.push_back(name);
  }
  void add(const Shape& shape) { add(random_tensor(rng, shape)); }
  void add_constant(const Tensor& tensor) {
    inputs.push_back(fmt::format("in{}", inputs.size()));
    model.initializer(inputs.back(), tensor);
  }
  void check(const char* op, const std::string& domain, int outputs) {
    std::vector<std::string> made;
    for (int i = 0; i < outputs; ++i) {
      made.push_back(fmt::format("out{}", i));
      model.output(made.back());
    }
    model.node(op, inputs, made, attributes, domain);
    check_on_gpu(model, given);
  }
};

template <class T>
Tensor integers_below(Rng& rng, const Shape& shape, std::int64_t limit, std::int64_t first = 0) {
  std::vector<T> values(static_cast<std::size_t>(element_count(shape)));
  for (T& value : values)
    value = static_cast<T>(first + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(limit))));
  return tensor<T>(shape, values);
}

Tensor mask_of_numbers(Rng& rng, const Shape& shape) {
  Tensor mask = random_tensor(rng, shape);
  for (float& value : mask.mutable_values<float>()) {
    if (rng.below(4) == 0) value = -std::numeric_limits<float>::infinity();
    if (rng.below(8) == 0) value = std::numeric_limits<float>::lowest();
  }
  return mask;
}

Tensor mask_of_booleans(Rng& rng, const Shape& shape) {
  auto mask = Tensor::make(DType::boolean, shape, "a mask");
  REQUIRE(mask.ok());
  for (std::byte& value : mask->mutable_bytes()) value = static_cast<std::byte>(rng.below(3) > 0);
  return *mask;
}

TEST_CASE("Gpu_Attention_OfRandomHeadsMasksAndWindows_IsRight") {
  const std::uint64_t seed = test_seed(61);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int round = 0; round < repetitions(24); ++round) {
    Attended it{rng};
    const std::int64_t batch = it.one_of({1, 2});
    const std::int64_t kv_heads = it.one_of({1, 2, 3});
    const std::int64_t heads = kv_heads * it.one_of({1, 2, 3});
    const std::int64_t queries = it.one_of({1, 2, 5});
    const std::int64_t added = it.one_of({1, 3, 4, 9, 70});
    const std::int64_t size = it.one_of({1, 3, 4, 8, 10});
    const std::int64_t value_size = it.one_of({size, 1, 4, 6});
    const std::int64_t kind = it.one_of({0, 1, 2});  // plain, with a cache, with valid keys
    const std::int64_t before = kind == 1 ? it.one_of({0, 1, 4, 6}) : 0;
    const std::int64_t keys = before + added;
    CAPTURE(fmt::format("batch {}, heads {}/{}, {} queries, {}+{} keys, sizes {} {}, kind {}", batch, heads,
                        kv_heads, queries, before, added, size, value_size, kind));
    const auto operand = [&](std::int64_t count, std::int64_t rows, std::int64_t of, bool split) {
      it.add(split ? Shape{batch, count, rows, of} : Shape{batch, rows, count * of});
    };
    const bool split = it.maybe();
    operand(heads, queries, size, split);
    operand(kv_heads, added, size, split);
    operand(kv_heads, added, value_size, split);
    const std::int64_t mask_keys = it.maybe() ? keys : it.one_of({1, (keys + 1) / 2});
    const Shape masks[] = {{queries, mask_keys}, {1, heads, 1, mask_keys}, {batch, 1, queries, mask_keys}};
    const Shape& mask = masks[rng.below(3)];
    switch (rng.below(3)) {
      case 0: it.add(mask_of_numbers(rng, mask)); break;
      case 1: it.add(mask_of_booleans(rng, mask)); break;
      default: it.leave_out();
    }
    if (kind == 1) {
      it.add({batch, kv_heads, before, size});
      it.add({batch, kv_heads, before, value_size});
    } else if (kind == 2) {
      it.leave_out();
      it.leave_out();
      it.add(integers_below<std::int64_t>(rng, {batch}, keys + 2));
    }
    it.attributes = {integer("q_num_heads", heads),
                     integer("kv_num_heads", kv_heads),
                     integer("is_causal", it.maybe()),
                     integer("left_window_size", it.one_of({-1, 0, 2})),
                     integer("right_window_size", it.one_of({-1, 0, 3})),
                     integer("qk_matmul_output_mode", it.one_of({0, 1}))};
    if (it.maybe()) it.attributes.push_back(real("softcap", 1.5f));
    if (it.maybe()) it.attributes.push_back(real("scale", 2.0f));
    it.model.opset(25);
    it.check("Attention", "", it.maybe() ? 4 : it.maybe() ? 3 : 1);
  }
}

// A mask of MultiHeadAttention and Attention, or none.
void add_key_mask(Attended& it, std::int64_t batch, std::int64_t queries, std::int64_t keys) {
  // The last rows of a mask of four axes are those of the queries.
  switch (it.rng.below(keys < queries ? 4 : 6)) {
    case 0: it.add(integers_below<std::int32_t>(it.rng, {batch}, keys + 2)); break;
    case 1: it.add(integers_below<std::int32_t>(it.rng, {2 * batch}, keys + 2, -1)); break;
    case 2: it.add(integers_below<std::int32_t>(it.rng, {batch, keys}, 2)); break;
    case 3: it.add(integers_below<std::int32_t>(it.rng, {batch, queries, keys}, 2)); break;
    case 4: it.add(integers_below<std::int32_t>(it.rng, {batch, 1, keys + 2, keys + 2}, 2)); break;
    default: it.leave_out();
  }
}

void add_bias_of_scores(Attended& it, std::int64_t batch, std::int64_t heads, std::int64_t queries,
                        std::int64_t keys) {
  if (it.maybe()) return it.leave_out();
  it.add({it.one_of({1, batch}), it.one_of({1, heads}), queries, keys});
}

TEST_CASE("Gpu_MultiHeadAttention_OfRandomHeadsMasksAndCaches_IsRight") {
  const std::uint64_t seed = test_seed(62);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int round = 0; round < repetitions(16); ++round) {
    Attended it{rng};
    const std::int64_t batch = it.one_of({1, 2});
    const std::int64_t heads = it.one_of({1, 2, 3});
    const std::int64_t queries = it.one_of({1, 3, 6});
    const std::int64_t added = it.one_of({1, 3, 6});
    const std::int64_t size = it.one_of({1, 3, 4, 8});
    const std::int64_t value_size = it.one_of({size, 2, 4});
    const std::int64_t before = it.one_of({0, 0, 2, 5});
    const bool split = rng.below(4) == 0;
    CAPTURE(fmt::format("batch {}, {} heads, {} queries, {}+{} keys, sizes {} {}", batch, heads, queries,
                        before, added, size, value_size));
    it.add({batch, queries, heads * size});
    for (const std::int64_t of : {size, value_size})
      it.add(split ? Shape{batch, heads, added, of} : Shape{batch, added, heads * of});
    if (it.maybe())
      it.add_constant(random_tensor(rng, {heads * (2 * size + value_size)}));
    else
      it.leave_out();
    add_key_mask(it, batch, queries, before + added);
    add_bias_of_scores(it, batch, heads, queries, before + added);
    if (before > 0) {
      it.add({batch, heads, before, size});
      it.add({batch, heads, before, value_size});
    }
    it.attributes = {integer("num_heads", heads), integer("unidirectional", it.maybe())};
    if (it.maybe()) it.attributes.push_back(real("mask_filter_value", it.maybe() ? -3.0f : -3.4e38f));
    if (it.maybe()) it.attributes.push_back(real("scale", 0.5f));
    it.model.opset(microsoft, 1);
    it.check("MultiHeadAttention", microsoft, it.maybe() ? 3 : 1);
  }
}

TEST_CASE("Gpu_AttentionOfMicrosoft_OfRandomProjectionsMasksAndCaches_IsRight") {
  const std::uint64_t seed = test_seed(63);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int round = 0; round < repetitions(16); ++round) {
    Attended it{rng};
    const std::int64_t batch = it.one_of({1, 2});
    const std::int64_t heads = it.one_of({1, 2, 3});
    const std::int64_t queries = it.one_of({1, 3, 6});
    const std::int64_t width = it.one_of({1, 4, 7, 33});
    const std::int64_t size = it.one_of({1, 3, 4, 8});
    const std::int64_t kind = it.one_of({0, 1, 2});  // plain, with a cache, with values of another size
    const std::int64_t value_size = kind == 2 ? it.one_of({2, 4, 5}) : size;
    const std::int64_t before = kind == 1 ? it.one_of({1, 4}) : 0;
    CAPTURE(fmt::format("batch {}, {} heads, {}+{} rows of {}, sizes {} {}, kind {}", batch, heads, before,
                        queries, width, size, value_size, kind));
    it.add({batch, queries, width});
    const std::int64_t columns = heads * (2 * size + value_size);
    if (it.maybe())
      it.add({width, columns});
    else
      it.add_constant(random_tensor(rng, {width, columns}));
    if (it.maybe())
      it.add_constant(random_tensor(rng, {columns}));
    else
      it.leave_out();
    add_key_mask(it, batch, queries, before + queries);
    if (before > 0)
      it.add({2, batch, heads, before, size});
    else
      it.leave_out();
    add_bias_of_scores(it, batch, heads, queries, before + queries);
    it.attributes = {integer("num_heads", heads), integer("unidirectional", it.maybe()),
                     ints("qkv_hidden_sizes", {heads * size, heads * size, heads * value_size})};
    it.model.opset(microsoft, 1);
    it.check("Attention", microsoft, kind != 2 && it.maybe() ? 2 : 1);
  }
}

TEST_CASE("Gpu_GroupQueryAttention_OfRandomCachesRotationsAndWindows_IsRight") {
  const std::uint64_t seed = test_seed(64);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int round = 0; round < repetitions(32); ++round) {
    Attended it{rng};
    const std::int64_t batch = it.one_of({1, 2, 3});
    const std::int64_t kv_heads = it.one_of({1, 2});
    const std::int64_t heads = kv_heads * it.one_of({1, 2, 4});
    const std::int64_t size = it.one_of({2, 4, 8, 10, 7});
    const std::int64_t queries = it.one_of({1, 1, 3, 6});
    const bool prompt = it.maybe();
    const std::int64_t before = prompt ? it.one_of({0, 0, 4, 16}) : it.one_of({1, 3, 8, 70});
    // A cache that is shared between runs has room.
    const bool shared = !prompt && before >= queries + 2 && it.maybe();
    const std::int64_t total = prompt   ? queries
                               : shared ? it.one_of({before, queries + 2})
                                        : before + queries;
    const bool packed = it.maybe();
    const bool turns = it.maybe() && size > 2;
    CAPTURE(fmt::format("batch {}, heads {}/{} of {}, {} queries, {} before, total {}, packed {}, turns {}",
                        batch, heads, kv_heads, size, queries, before, total, packed, turns));
    if (packed) {
      it.add({batch, queries, (heads + 2 * kv_heads) * size});
      it.leave_out();
      it.leave_out();
    } else {
      it.add({batch, queries, heads * size});
      for (int i = 0; i < 2; ++i) it.add({batch, queries, kv_heads * size});
    }
    for (int i = 0; i < 2; ++i)
      if (before > 0)
        it.add({batch, kv_heads, before, size});
      else
        it.leave_out();
    // A prompt may be padded; else each sequence has some of the rows before.
    std::vector<std::int32_t> lasts;
    for (std::int64_t b = 0; b < batch; ++b) {
      const std::int64_t first = prompt ? 0 : queries - 1;
      const std::int64_t end = prompt ? queries : std::min(before + queries, std::max(before, total));
      lasts.push_back(static_cast<std::int32_t>(
          first + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(end - first)))));
    }
    it.add(tensor<std::int32_t>({batch}, lasts));
    it.add_constant(tensor<std::int32_t>({1}, {static_cast<std::int32_t>(total)}));
    const std::int64_t half = turns ? size / 2 - it.one_of({0, size > 5 ? 1 : 0}) : 0;
    const std::int64_t rows = std::max<std::int64_t>(before + queries, 2);
    for (int i = 0; i < 2; ++i)
      if (turns)
        it.add_constant(random_tensor(rng, {rows, half}));
      else
        it.leave_out();
    if (turns && !prompt && it.maybe())
      it.add(integers_below<std::int64_t>(rng, {batch, queries}, rows));
    else
      it.leave_out();
    add_bias_of_scores(it, batch, heads, queries, total + it.one_of({0, 1}));
    if (rng.below(3) == 0) it.add_constant(random_tensor(rng, {heads}));
    it.attributes = {
        integer("num_heads", heads),           integer("kv_num_heads", kv_heads),
        integer("do_rotary", turns),           integer("rotary_interleaved", it.maybe()),
        integer("smooth_softmax", it.maybe()), integer("local_window_size", it.one_of({-1, 1, 3}))};
    if (it.maybe()) it.attributes.push_back(real("softcap", 2.0f));
    if (it.maybe()) it.attributes.push_back(real("scale", 0.7f));
    it.model.opset(microsoft, 1);
    it.check("GroupQueryAttention", microsoft, it.maybe() ? 3 : 1);
  }
}

TEST_CASE("Gpu_GroupQueryAttention_LengthsThatDoNotFit_AreAnError") {
  Rng rng(65);
  for (const bool of_rows : {false, true}) {
    Attended it{rng};
    it.add({1, 1, 8});
    for (int i = 0; i < 2; ++i) it.add({1, 1, 4});
    for (int i = 0; i < 2; ++i) it.add({1, 1, 5, 4});
    it.add(tensor<std::int32_t>({1}, {of_rows ? 5 : 6}));
    it.add_constant(tensor<std::int32_t>({1}, {6}));
    for (int i = 0; i < 2; ++i) it.add_constant(random_tensor(rng, {5, 2}));
    it.model.opset(microsoft, 1)
        .node("GroupQueryAttention", it.inputs, {"y"},
              {integer("num_heads", 2), integer("kv_num_heads", 1), integer("do_rotary", 1)}, microsoft)
        .output("y");
    for (const GpuWay& way : gpu_ways()) {
      const Error error = gpu_failure(built(it.model), it.given, way);
      CAPTURE(error.message);
      CHECK(error.message.find(of_rows
                                   ? "input 7 (cos_cache): position 5 of sequence 0 is needed, it has 5 rows"
                                   : "input 5 (seqlens_k): element 0 is 6: a sequence of 7 positions") !=
            std::string::npos);
    }
  }
}

// What is declined runs on strict: a length that is computed, weights as an output, a bias that is computed.
TEST_CASE("Gpu_Attention_ThatShadersLack_RunsOnStrict") {
  Rng rng(66);
  ModelBuilder model;
  model.opset(24)
      .opset(microsoft, 1)
      .input("x", DType::float32, {1, 2, 8})
      .input("bias", DType::float32, {24})
      .input("last", DType::int32, {1})
      .input("total", DType::int32, {1})
      .node("GroupQueryAttention", {"x", "x", "x", "", "", "last", "total"}, {"a"},
            {integer("num_heads", 2), integer("kv_num_heads", 2)}, microsoft)
      .node("MultiHeadAttention", {"a", "x", "x", "bias"}, {"b"}, {integer("num_heads", 2)}, microsoft)
      .node("Attention", {"b", "x", "x"}, {"y", "", "", "weights"},
            {integer("q_num_heads", 2), integer("kv_num_heads", 2), integer("qk_matmul_output_mode", 3)})
      .output("y")
      .output("weights");
  for (const GpuWay& way : gpu_ways()) {
    const std::string engine = way.engine;
    CAPTURE(engine);
    const GpuRun ran = run_on_gpu(built(model),
                                  {{"x", random_tensor(rng, {1, 2, 8})},
                                   {"bias", random_tensor(rng, {24})},
                                   {"last", tensor<std::int32_t>({1}, {1})},
                                   {"total", tensor<std::int32_t>({1}, {2})}},
                                  way);
    CHECK(ran.with.options.at("on_strict") == "Attention 1, GroupQueryAttention 1, MultiHeadAttention 1");
  }
}

}  // namespace
}  // namespace driftscope::test::gpu_attention_test
