// Recurrent networks: gates, states, directions, lengths.
#include "tests/faults/network.hpp"

namespace driftscope::faults::recurrent {
namespace {

struct Shape4 {
  std::int64_t steps = 7, batch = 2, inputs = 5, hidden = 6;
};

MakeNetwork cell(const std::string& op, std::int64_t gates, std::vector<Attribute> more = {},
                 bool states = true, bool bidirectional = false) {
  return [=](Rng& rng) {
    const Shape4 s;
    const std::int64_t d = bidirectional ? 2 : 1;
    Chain chain{
        .op = op,
        .inputs = {normal(rng, {s.steps, s.batch, s.inputs})},
        .constants = {normal(rng, {d, gates * s.hidden, s.inputs}, 0.5f),
                      normal(rng, {d, gates * s.hidden, s.hidden}, 0.5f),
                      normal(rng, {d, 2 * gates * s.hidden}, 0.3f), tensor<std::int32_t>({2}, {7, 5})},
        .attributes = more,
        .outputs = 2};
    chain.attributes.push_back(integer("hidden_size", s.hidden));
    if (bidirectional) chain.attributes.push_back(text("direction", "bidirectional"));
    if (states) {
      chain.constants.push_back(normal(rng, {d, s.batch, s.hidden}, 0.5f));
      if (op == "LSTM") chain.constants.push_back(normal(rng, {d, s.batch, s.hidden}, 0.5f));
    }
    return network_of(chain);
  };
}

/// Blocks of `hidden` rows of axis 1 exchanged, in W, R and B.
Fault gates_exchanged(std::int64_t a, std::int64_t b) {
  return [=](const NodeRun& run) {
    NodeRun other = run;
    constexpr std::int64_t hidden = 6;
    for (const std::size_t place : {1, 2, 3}) {
      Tensor& tensor = other.inputs[place];
      const std::int64_t rows = tensor.shape()[1];
      const std::int64_t width = tensor.elements() / tensor.shape()[0] / rows;
      const Tensor before = tensor;
      tensor = each([&](double, std::int64_t i) {
        const std::int64_t column = i % width, row = i / width % rows, outer = i / width / rows;
        const std::int64_t gate = row / hidden;
        const std::int64_t from = gate == a ? b : gate == b ? a : gate;
        const std::int64_t source = (outer * rows + from * hidden + row % hidden) * width + column;
        return static_cast<double>(before.values<float>()[static_cast<std::size_t>(source)]);
      })(before);
    }
    return run_strict(other);
  };
}

}  // namespace

void add_to(FaultTable& table) {
  const std::string family = "recurrent";
  const auto add = [&](const std::string& name, MakeNetwork network, Fault fault) {
    table.add(family, name, std::move(network), std::move(fault));
  };
  const auto zero = each([](double, std::int64_t) { return 0.0; });
  struct Operator {
    std::string op;
    std::int64_t gates;
  };
  for (const Operator& one : {Operator{"LSTM", 4}, Operator{"GRU", 3}, Operator{"RNN", 1}}) {
    const std::string& op = one.op;
    const std::int64_t gates = one.gates;
    const auto plain = cell(op, gates);
    add(op + ": initial state ignored", plain, input(5, zero));
    add(op + ": sequence lengths ignored", plain,
        input(4, each_number([](double, std::int64_t) { return 7.0; })));
    add(op + ": recurrent bias left out", plain, [gates](const NodeRun& run) {
      NodeRun other = run;
      other.inputs[3] = each(
          [=](double x, std::int64_t i) { return i % (12 * gates) < 6 * gates ? x : 0.0; })(run.inputs[3]);
      return run_strict(other);
    });
    add(op + ": backwards", plain, attribute(text("direction", "reverse")));
    add(op + ": last step not written", plain, output(zero_from(0, 1)));
    add(op + ": recurrent weights transposed", plain, [](const NodeRun& run) {
      NodeRun other = run;
      const Shape shape = run.inputs[2].shape();
      other.inputs[2] =
          *transposed_in_place()(*run.inputs[2].reshaped({shape[0] * shape[1] / 6, 6, 6})).reshaped(shape);
      return run_strict(other);
    });
    add(op + ": second direction as the first", cell(op, gates, {}, true, true), output(last_repeated(1)));
    add(op + ": states of the samples exchanged", plain, input(5, ends_exchanged(1)));
  }
  const auto lstm = cell("LSTM", 4);
  add("LSTM: gates in the order i, f, c, o", lstm, gates_exchanged(1, 2));
  add("LSTM: input and forget gate exchanged", lstm, gates_exchanged(0, 2));
  add("LSTM: initial cell state ignored", lstm, input(6, zero));
  add("GRU: update and reset gate exchanged", cell("GRU", 3), gates_exchanged(0, 1));
  add("GRU: linear_before_reset ignored", cell("GRU", 3, {integer("linear_before_reset", 1)}),
      no_attribute("linear_before_reset"));
  add("RNN: Relu for Tanh", cell("RNN", 1), [](const NodeRun& run) {
    NodeRun other = run;
    other.node.attributes.push_back({"activations", std::vector<std::string>{"Relu"}});
    return run_strict(other);
  });
  add("LSTM: hard sigmoid in the gates", lstm, [](const NodeRun& run) {
    NodeRun other = run;
    other.node.attributes.push_back({"activations", std::vector<std::string>{"HardSigmoid", "Tanh", "Tanh"}});
    return run_strict(other);
  });
  add("LSTM: weights rounded to bfloat16", lstm, inputs(rounded_to(7)));
  add("GRU: weights rounded to float16", cell("GRU", 3), inputs(through_float16()));
}

}  // namespace driftscope::faults::recurrent
