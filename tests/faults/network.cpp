#include "tests/faults/network.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "core/eval/infer_shapes.hpp"
#include "core/graph/build.hpp"
#include "core/model/tensor_elements.hpp"

namespace driftscope::faults {
namespace {

/// A mistake in a family ends the program with its message.
template <class T>
T expect(Result<T> result, const std::string& what) {
  if (result.ok()) return *std::move(result);
  fmt::print(stderr, "{}: {}\n", what, result.error().message);
  std::exit(2);
}

double get(const Tensor& tensor, std::int64_t i) { return number_at(tensor, static_cast<std::size_t>(i)); }

void put(Tensor& tensor, std::int64_t i, double x) {
  visit_plain_number(tensor.dtype(), [&]<class E>() {
    auto& target = tensor.mutable_values<typename E::Stored>()[static_cast<std::size_t>(i)];
    if constexpr (E::kind == ElementKind::floating)
      target = E::nearest(x);
    else
      target = static_cast<typename E::Stored>(x);
  });
}

Tensor made(DType dtype, const Shape& shape) { return expect(Tensor::make(dtype, shape), "tensor"); }

/// Outer sizes × size of the axis × inner sizes.
struct Axes {
  std::int64_t outer = 1, size = 1, inner = 1;
  Axes(const Shape& shape, std::size_t axis) : size(shape.at(axis)) {
    for (std::size_t i = 0; i < axis; ++i) outer *= shape[i];
    for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  }
};

/// Element (outer, place, inner) becomes the one at (outer, from(place), inner), or 0 for a negative place.
Change moved(std::size_t axis, std::function<std::int64_t(std::int64_t place, std::int64_t size)> from) {
  return [=](const Tensor& tensor) {
    const Axes axes(tensor.shape(), axis);
    Tensor result = made(tensor.dtype(), tensor.shape());
    for (std::int64_t o = 0; o < axes.outer; ++o)
      for (std::int64_t p = 0; p < axes.size; ++p)
        for (std::int64_t i = 0; i < axes.inner; ++i) {
          const std::int64_t source = from(p, axes.size);
          const auto at = [&](std::int64_t place) { return (o * axes.size + place) * axes.inner + i; };
          put(result, at(p), source < 0 ? 0.0 : get(tensor, at(source)));
        }
    return result;
  };
}

}  // namespace

Attribute integer(std::string name, std::int64_t value) { return {std::move(name), value}; }
Attribute real(std::string name, float value) { return {std::move(name), value}; }
Attribute text(std::string name, std::string value) { return {std::move(name), std::move(value)}; }
Attribute ints(std::string name, std::vector<std::int64_t> value) {
  return {std::move(name), std::move(value)};
}

Tensor normal(Rng& rng, const Shape& shape, float spread, float mean) {
  Tensor result = made(DType::float32, shape);
  for (float& x : result.mutable_values<float>()) x = mean + spread * rng.normal();
  return result;
}

Tensor uniform(Rng& rng, const Shape& shape, float low, float high) {
  Tensor result = made(DType::float32, shape);
  for (float& x : result.mutable_values<float>()) x = rng.uniform(low, high);
  return result;
}

Tensor as_dtype(const Tensor& values, DType dtype) {
  if (values.dtype() == dtype) return values;
  Tensor result = made(dtype, values.shape());
  for (std::int64_t i = 0; i < values.elements(); ++i) put(result, i, get(values, i));
  return result;
}

Network network_of(const Chain& chain) {
  Network network;
  Model model;
  model.ir_version = 8;
  model.opsets[""] = 21;
  ModelNode target{.name = "target",
                   .op_type = chain.op,
                   .domain = "",
                   .inputs = {},
                   .outputs = {},
                   .attributes = chain.attributes};
  const auto converted = [&](const Tensor& given) {
    return is_floating(given.dtype()) ? as_dtype(given, chain.dtype) : given;
  };
  const auto read = [&](const std::string& name) {
    for (const std::size_t place : chain.omitted)
      if (place == target.inputs.size()) target.inputs.emplace_back();
    target.inputs.push_back(name);
  };
  for (std::size_t i = 0; i < chain.inputs.size(); ++i) {
    const Tensor given = converted(chain.inputs[i]);
    const std::string name = fmt::format("x{}", i);
    ValueInfo info{name, given.dtype(), SymbolicShape()};
    for (const std::int64_t size : given.shape()) info.shape->push_back({size, ""});
    model.graph.inputs.push_back(info);
    network.inputs.push_back({name, given});
    const std::string before = fmt::format("before{}", i);
    ModelNode first{.name = before,
                    .op_type = "Identity",
                    .domain = "",
                    .inputs = {name},
                    .outputs = {before},
                    .attributes = {}};
    if (is_floating(given.dtype())) {
      // The inputs of the target are exactly those that the chain specifies.
      network.inputs.back().tensor = scaled(0.5)(given);
      const std::string two = fmt::format("two{}", i);
      model.graph.initializers.push_back({two, as_dtype(tensor<float>({}, {2.0f}), given.dtype())});
      first.op_type = "Mul";
      first.inputs.push_back(two);
    }
    model.graph.nodes.push_back(first);
    read(before);
  }
  for (std::size_t i = 0; i < chain.constants.size(); ++i) {
    const std::string name = fmt::format("c{}", i);
    model.graph.initializers.push_back({name, converted(chain.constants[i])});
    read(name);
  }
  for (std::size_t o = 0; o < chain.outputs; ++o) target.outputs.push_back(fmt::format("y{}", o));
  model.graph.nodes.push_back(target);
  for (std::size_t o = 0; o < chain.outputs; ++o) {
    const std::string after = fmt::format("after{}", o);
    model.graph.nodes.push_back({.name = after,
                                 .op_type = "Identity",
                                 .domain = "",
                                 .inputs = {target.outputs[o]},
                                 .outputs = {after},
                                 .attributes = {}});
    model.graph.outputs.push_back({after, DType::undefined, std::nullopt});
  }
  network.graph = expect(infer_shapes(expect(build_graph(model), chain.op)), chain.op);
  for (NodeId id = 0; id < network.graph.nodes.size(); ++id)
    if (network.graph.nodes[id].name == "target") network.target = id;
  return network;
}

Fault attribute(Attribute changed) {
  return [changed = std::move(changed)](const NodeRun& run) {
    NodeRun other = run;
    std::erase_if(other.node.attributes.edit(),
                  [&](const Attribute& one) { return one.name == changed.name; });
    other.node.attributes.push_back(changed);
    return run_strict(other);
  };
}

Fault no_attribute(std::string name) {
  return [name = std::move(name)](const NodeRun& run) {
    NodeRun other = run;
    std::erase_if(other.node.attributes.edit(), [&](const Attribute& one) { return one.name == name; });
    return run_strict(other);
  };
}

Fault as_op(std::string op, std::vector<Attribute> attributes) {
  return [op = std::move(op), attributes = std::move(attributes)](const NodeRun& run) {
    NodeRun other = run;
    other.node.op_type = op;
    other.node.attributes = attributes;
    return run_strict(other);
  };
}

Fault input(std::size_t place, std::function<Tensor(const Tensor&)> change) {
  return [place, change = std::move(change)](const NodeRun& run) {
    NodeRun other = run;
    other.inputs.at(place) = change(other.inputs.at(place));
    return run_strict(other);
  };
}

Fault inputs(std::function<Tensor(const Tensor&)> change) {
  return [change = std::move(change)](const NodeRun& run) {
    NodeRun other = run;
    for (Tensor& one : other.inputs)
      if (is_floating(one.dtype())) one = change(one);
    return run_strict(other);
  };
}

Fault output(std::function<Tensor(const Tensor&)> change) {
  return [change = std::move(change)](const NodeRun& run) -> Result<Tensors> {
    DRIFTSCOPE_TRY(Tensors outputs, run_strict(run));
    outputs.front() = change(outputs.front());
    return outputs;
  };
}

Fault without_input(std::size_t place) {
  return [place](const NodeRun& run) {
    NodeRun other = run;
    other.node.inputs.at(place) = no_value;
    return run_strict(other);
  };
}

Fault swapped(std::size_t a, std::size_t b) {
  return [a, b](const NodeRun& run) {
    NodeRun other = run;
    std::swap(other.inputs.at(a), other.inputs.at(b));
    return run_strict(other);
  };
}

Change each_number(std::function<double(double, std::int64_t)> change) {
  return [change = std::move(change)](const Tensor& tensor) {
    Tensor result = made(tensor.dtype(), tensor.shape());
    for (std::int64_t i = 0; i < tensor.elements(); ++i) put(result, i, change(get(tensor, i), i));
    return result;
  };
}

Change each(std::function<double(double, std::int64_t)> change) { return each_number(std::move(change)); }

Change rounded_to(int fraction) {
  return each([fraction](double x, std::int64_t) {
    if (x == 0.0 || !std::isfinite(x)) return x;
    const double step = std::ldexp(1.0, std::ilogb(x) - fraction);
    return std::nearbyint(x / step) * step;
  });
}

Change through_float16() {
  return each([](double x, std::int64_t) { return widen(float16_format, narrow(float16_format, x)); });
}

Change zero_from(std::size_t axis, std::int64_t from_end) {
  return moved(axis, [from_end](std::int64_t p, std::int64_t size) { return p < size - from_end ? p : -1; });
}
Change rolled(std::size_t axis) {
  return moved(axis, [](std::int64_t p, std::int64_t size) { return (p + 1) % size; });
}
Change ends_exchanged(std::size_t axis) {
  return moved(axis, [](std::int64_t p, std::int64_t size) {
    return p == 0 ? size - 1 : p == size - 1 ? 0 : p;
  });
}
Change last_repeated(std::size_t axis) {
  return moved(axis, [](std::int64_t p, std::int64_t size) {
    return p == size - 1 ? std::max<std::int64_t>(size - 2, 0) : p;
  });
}

Change transposed_in_place() {
  return [](const Tensor& tensor) {
    const Shape& shape = tensor.shape();
    const std::int64_t rows = shape.at(shape.size() - 2), columns = shape.back();
    Tensor result = made(tensor.dtype(), shape);
    for (std::int64_t base = 0; base < tensor.elements(); base += rows * columns)
      for (std::int64_t i = 0; i < rows * columns; ++i)
        put(result, base + i, get(tensor, base + i % rows * columns + i / rows));
    return result;
  };
}

Change scaled(double factor) {
  return each([factor](double x, std::int64_t) { return x * factor; });
}
Change element(std::int64_t index, double value) {
  return each_number([=](double x, std::int64_t i) { return i == index ? value : x; });
}

}  // namespace driftscope::faults
