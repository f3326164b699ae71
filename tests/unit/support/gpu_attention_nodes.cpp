#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/unit/support/gpu_node_case.hpp"

namespace driftscope::test {
namespace {

// In one of a few ways each: all of them together would be thousands of shaders.
void onnx_attention(GpuNodeCase& it, const std::string& op) {
  const std::int64_t way = it.below(5);
  const std::int64_t size = it.one_of({4, 5});
  const bool split = way % 2 == 0;
  const std::int64_t past = way == 1 ? 3 : 0;
  const auto heads = [&](std::int64_t count, std::int64_t rows) {
    return split ? Shape{2, count, rows, size} : Shape{2, rows, count * size};
  };
  it.model.opset(25).input("x", DType::float32,
                           split ? std::vector<Dim>{2, 4, 3, size} : std::vector<Dim>{2, 3, 4 * size});
  const std::int64_t kv_heads = way == 0 ? 2 : 4;
  const std::int64_t keys = it.one_of({7, 8});
  std::vector<std::string> inputs = {
      "x", it.value(heads(kv_heads, keys)), it.value(heads(kv_heads, keys)), "", "", "", ""};
  std::vector<Attribute> attributes = {integer("q_num_heads", 4), integer("kv_num_heads", kv_heads),
                                       integer("is_causal", way < 2)};
  if (way == 1) inputs[4] = it.value({2, kv_heads, past, size});
  if (way == 1) inputs[5] = it.value({2, kv_heads, past, size});
  if (way == 1) attributes.push_back(real("softcap", 2.0f));
  if (way == 2) inputs[3] = it.value({3, keys - 1});
  if (way == 3) inputs[3] = it.value({3, keys}, DType::boolean);
  if (way == 4) inputs[6] = it.value({2}, DType::int64);
  if (way == 4)
    attributes.insert(attributes.end(), {integer("left_window_size", 2), integer("right_window_size", 1)});
  const int outputs = static_cast<int>(it.one_of({1, 4}));
  attributes.push_back(integer("qk_matmul_output_mode", it.below(2)));
  it.add(op, inputs, attributes, outputs);
}

// Masks of each rank.
std::string key_mask(GpuNodeCase& it, std::int64_t batch, std::int64_t queries, std::int64_t keys) {
  switch (it.below(6)) {
    case 0: return it.value({batch}, DType::int32);
    case 1: return it.value({2 * batch}, DType::int32);
    case 2: return it.value({batch, keys}, DType::int32);
    case 3: return it.value({batch, queries, keys}, DType::int32);
    case 4: return it.value({batch, 1, keys, keys}, DType::int32);
    default: return "";
  }
}

void multi_head_attention(GpuNodeCase& it, const std::string& op) {
  const bool past = it.maybe();
  const std::int64_t keys = past ? 9 : 5;
  it.model.input("x", DType::float32, {2, 3, 8});
  std::vector<std::string> inputs = {
      "x", it.value({2, 5, 8}), it.value({2, 5, 8}), past ? it.constant({24}) : "", key_mask(it, 2, 3, keys),
      ""};
  if (past) inputs.insert(inputs.end(), {it.value({2, 2, 4, 4}), it.value({2, 2, 4, 4})});
  it.add(op, inputs, {integer("num_heads", 2), integer("unidirectional", it.maybe())}, past ? 3 : 1);
}

void projected_attention(GpuNodeCase& it, const std::string& op) {
  const std::int64_t size = it.one_of({3, 4});
  const bool past = it.maybe();
  it.model.input("x", DType::float32, {2, 3, 6});
  std::vector<std::string> inputs = {"x",
                                     it.operand({6, 6 * size}),
                                     it.constant({6 * size}),
                                     "",
                                     past ? it.value({2, 2, 2, 4, size}) : "",
                                     it.maybe() ? it.value({2, 1, 3, past ? 7 : 3}) : ""};
  it.add(op, inputs, {integer("num_heads", 2)}, past ? 2 : 1);
}

void group_query_attention(GpuNodeCase& it, const std::string& op) {
  const std::int64_t way = it.below(4);
  const std::int64_t size = it.one_of({4, 6});
  const std::int64_t queries = way < 2 ? 5 : 1;
  const std::int64_t past = way < 2 ? 0 : it.one_of({6, 12});
  const bool packed = it.maybe();
  it.model.input("x", DType::float32, {2, queries, (packed ? 8 : 4) * size});
  const auto row = [&] { return packed ? std::string() : it.value({2, queries, 2 * size}); };
  const auto cache = [&] { return past > 0 ? it.value({2, 2, past, size}) : std::string(); };
  std::vector<std::string> inputs = {"x", row(), row(), cache(), cache(), it.value({2}, DType::int32)};
  const auto total = static_cast<std::int32_t>(past > 6 ? past : past + queries);
  inputs.push_back(it.constant(tensor<std::int32_t>({1}, {total})));
  for (int i = 0; i < 2; ++i) inputs.push_back(way % 2 == 1 ? it.constant({16, size / 2}) : "");
  inputs.push_back(way == 3 ? it.value({2, queries}, DType::int64) : "");
  inputs.push_back(it.maybe() ? it.value({1, 4, queries, total}) : "");
  if (it.maybe()) inputs.push_back(it.constant({4}));
  it.add(op, inputs,
         {integer("num_heads", 4), integer("kv_num_heads", 2), integer("do_rotary", way % 2),
          integer("rotary_interleaved", it.maybe()), integer("smooth_softmax", it.maybe()),
          integer("local_window_size", it.one_of({-1, 3}))},
         3);
}

}  // namespace

std::map<std::string, GpuNodeRecipe> attention_recipes() {
  return {{"Attention", onnx_attention},
          {"com.microsoft.MultiHeadAttention", multi_head_attention},
          {"com.microsoft.Attention", projected_attention},
          {"com.microsoft.GroupQueryAttention", group_query_attention}};
}

}  // namespace driftscope::test
