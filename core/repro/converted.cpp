#include "core/repro/converted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/convert/place_tensor.hpp"
#include "core/convert/read_model.hpp"
#include "core/graph/build.hpp"
#include "core/model/element.hpp"
#include "core/verify/verify.hpp"

namespace driftscope::repro {
namespace {

using convert::PlacedValue;

/// The expected values in the type that the model gives.
Result<Tensor> rounded_to(const Tensor& expected, DType dtype) {
  if (expected.dtype() != DType::float64 || dtype == DType::float64) return expected;
  DRIFTSCOPE_TRY(Tensor made, Tensor::make(dtype, expected.shape()));
  const auto from = expected.values<double>();
  visit_floating(dtype, [&]<class E>() {
    const auto to = made.mutable_values<typename E::Stored>();
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = E::nearest(from[i]);
  });
  return made;
}

Result<Graph> read_back(const convert::ConvertedModel& model) {
  const auto beside = [&](const std::string& name) -> Result<std::vector<std::byte>> {
    const auto found = std::ranges::find(model.files, name, &convert::File::name);
    if (found == model.files.end()) return internal_error("the converted model lacks its file " + name);
    return found->bytes;
  };
  DRIFTSCOPE_TRY(const auto foreign, convert::read_foreign_model(model.files.front().bytes, beside));
  if (!foreign) return internal_error("the converted model is not read as one");
  return build_graph(foreign->model);
}

/// The exact result is what the converted model computes, by its own operators.
Status check(const Excerpt& one, const convert::ConvertedModel& model, ThreadPool& threads) {
  DRIFTSCOPE_TRY(const Graph graph, read_back(model));
  Trace trace;
  const auto add = [&](const std::string& name, const Tensor& tensor) -> Status {
    const auto place = model.values.find(name);
    if (place == model.values.end()) return {};
    DRIFTSCOPE_TRY(Tensor placed, convert::to_placed(tensor, place->second));
    trace.tensors.push_back({place->second.name, std::move(placed)});
    return {};
  };
  for (const NamedTensor& input : one.inputs) DRIFTSCOPE_CHECK(add(input.name, input.tensor));
  DRIFTSCOPE_TRY(const Tensor expected, rounded_to(one.expected, one.got.tensor.dtype()));
  DRIFTSCOPE_CHECK(add(one.got.name, expected));
  DRIFTSCOPE_TRY(const Verification verification, verify(graph, "", trace, threads));
  for (const LayerVerdict& layer : verification.layers)
    if (is_bad(layer.verdict) || layer.verdict == Verdict::unjudged)
      return unsupported(
          fmt::format("the model converted for the runtime is {} where it is read back and computed with the "
                      "expected result ({}): the conversion may be what is wrong, so no report was written",
                      verdict_name(layer.verdict), reason_of(layer)));
  return {};
}

bool is_moved(const PlacedValue& place) {
  std::vector<std::size_t> same(place.order.size());
  std::iota(same.begin(), same.end(), std::size_t{0});
  return place.order != same;
}

std::string list(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

const PlacedValue* place_of(const Report& report, const std::string& name) {
  const auto found = report.own.values.find(name);
  return found == report.own.values.end() ? nullptr : &found->second;
}

std::string_view array_of(DType dtype) {
  switch (dtype) {
    case DType::int32: return "Int32Array";
    case DType::uint8:
    case DType::boolean: return "Uint8Array";
    default: return "Float32Array";
  }
}

/// As the page reads a .npy file, for types that another one takes the place of.
std::string converted_values(const NamedTensor& input, const PlacedValue& place) {
  std::string loaded = fmt::format("(await load(\"{}.npy\")).data", input.name);
  const DType own = input.tensor.dtype();
  if (own == place.dtype || (own == DType::boolean && place.dtype == DType::uint8))
    if (place.offset == 0) return loaded;
  const std::string by =
      own == DType::float16 ? "half"
      : place.offset != 0
          ? fmt::format("(x) => Number(x) {} {}", place.offset < 0 ? "-" : "+", std::abs(place.offset))
          : "Number";
  return fmt::format("{}.from({}, {})", array_of(place.dtype), loaded, by);
}

constexpr std::string_view reordered_function = R"(
// Axis i of the result is axis order[i] of `shape`.
function reordered(values, shape, order) {
  const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
  const sizes = order.map((axis) => shape[axis]);
  const result = values.slice();
  for (let i = 0; i < result.length; ++i) {
    let [rest, from] = [i, 0];
    for (let axis = sizes.length - 1; axis >= 0; --axis) {
      from += (rest % sizes[axis]) * strides[order[axis]];
      rest = Math.floor(rest / sizes[axis]);
    }
    result[i] = values[from];
  }
  return result;
}
)";

}  // namespace

Result<convert::ConvertedModel> checked_conversion(const Excerpt& one, const Facts& facts,
                                                   convert::Converter converter, ThreadPool& threads) {
  convert::ConvertOptions options;
  options.options = facts.options;
  options.says_origin = false;
  DRIFTSCOPE_TRY(convert::ConvertedModel model, converter(one.graph, options));
  DRIFTSCOPE_CHECK(check(one, model, threads));
  return model;
}

std::vector<PlacedInput> placed_inputs(const Report& report) {
  std::vector<PlacedInput> list_of_inputs;
  for (const NamedTensor& input : report.one.inputs) {
    const PlacedValue* const place = place_of(report, input.name);
    if (place == nullptr) continue;  // nothing reads it
    const Shape& shape = input.tensor.shape();
    Shape there = shape;
    std::string values = converted_values(input, *place);
    if (is_moved(*place)) {
      for (std::size_t i = 0; i < there.size(); ++i) there[i] = shape[place->order[i]];
      values = fmt::format("reordered({}, {}, [{}])", values, list(shape), fmt::join(place->order, ", "));
    }
    const DType dtype = place->dtype == DType::undefined ? input.tensor.dtype() : place->dtype;
    list_of_inputs.push_back({place->name, std::string(dtype_name(dtype)), std::move(values), list(there)});
  }
  return list_of_inputs;
}

std::string placed_output(const Report& report) {
  const PlacedValue* const place = place_of(report, report.one.got.name);
  return place == nullptr ? report.one.got.name : place->name;
}

std::string restored_output(const Report& report, const std::string& values) {
  const PlacedValue* const place = place_of(report, report.one.got.name);
  if (place == nullptr) return values;
  std::string text = values;
  if (is_moved(*place)) {
    Shape there = report.one.got.tensor.shape();
    for (std::size_t i = 0; i < there.size(); ++i) there[i] = report.one.got.tensor.shape()[place->order[i]];
    text = fmt::format("reordered({}, {}, [{}])", text, list(there),
                       fmt::join(convert::inverse(place->order), ", "));
  }
  if (place->offset == 0) return text;
  return fmt::format("Array.from({}, (x) => x {} {})", text, place->offset < 0 ? "+" : "-",
                     std::abs(place->offset));
}

std::string placing_functions(const Report& report) {
  const auto moved = [](const auto& value) { return is_moved(value.second); };
  return std::ranges::any_of(report.own.values, moved) ? std::string(reordered_function) : std::string();
}

std::string conversion_text(const Report& report, const std::string& format) {
  const bool moved = !placing_functions(report).empty();
  return fmt::format(
      "`{}` was written from `model.onnx` by a converter of our own{}. To see that the conversion is not "
      "what "
      "is wrong, the file was read back and evaluated in double with the recorded inputs: within rounding it "
      "gives `expected.npy`, which was computed from `model.onnx`. So two references agree, and only the "
      "runtime gives another result.\n",
      format,
      moved ? ": the same operators with channels last; the page reorders the axes of inputs and result"
            : ": the same operators");
}

}  // namespace driftscope::repro
