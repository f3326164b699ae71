#include "core/convert/tfjs/reader/read.hpp"

#include <fmt/format.h>

#include <set>
#include <unordered_map>

#include "core/base/json.hpp"
#include "core/base/json_walk.hpp"
#include "core/base/text.hpp"
#include "core/convert/tfjs/reader/parts.hpp"
#include "core/graph/topological_order.hpp"

namespace driftscope::convert::tfjs {
namespace {

using nlohmann::json;

constexpr int deepest = 64;

/// "name:0" is the name alone, as TfGraph has it; "^name" (an order of running) is not an input.
std::string plain_name(const std::string& name) {
  return name.ends_with(":0") ? name.substr(0, name.size() - 2) : name;
}

/// The node of "name:k".
std::string node_of(const std::string& tensor) { return tensor.substr(0, tensor.rfind(':')); }

class Reader {
 public:
  explicit Reader(const WeightFiles& files) : files_(files) {}

  Result<tf::TfGraph> read(const json& model) {
    const auto topology = model.find("modelTopology");
    if (topology == model.end() || !topology->is_object()) return bad_input("there is no \"modelTopology\"");
    if (topology->contains("model_config") || topology->contains("keras_version"))
      return unsupported(
          "this is a layers model (Keras); export a graph model (tensorflowjs_converter "
          "--output_format tfjs_graph_model)");
    const auto nodes = topology->find("node");
    if (nodes == topology->end() || !nodes->is_array())
      return bad_input("modelTopology has no list \"node\"");
    const auto manifest = model.find("weightsManifest");
    if (manifest != model.end()) {
      DRIFTSCOPE_TRY(weights_, read_weights(*manifest, files_));
    }
    for (const json& node : *nodes) DRIFTSCOPE_CHECK(add_node(node));
    DRIFTSCOPE_CHECK(put_in_order());
    DRIFTSCOPE_CHECK(add_outputs(model));
    return std::move(graph_);
  }

 private:
  Status add_node(const json& entry) {
    if (!entry.is_object()) return bad_input("a node that is not an object");
    const auto name = entry.find("name");
    const auto op = entry.find("op");
    if (name == entry.end() || !name->is_string() || op == entry.end() || !op->is_string() ||
        name->get_ref<const std::string&>().empty())
      return bad_input("a node without the strings \"name\" and \"op\"");
    tf::Node node;
    node.name = name->get<std::string>();
    node.op = op->get<std::string>();
    auto status = fill_node(entry, node);
    if (!status.ok())
      return in_context(std::move(status).error(), fmt::format("node {}", in_quotes(node.name)));
    return {};
  }

  Status fill_node(const json& entry, tf::Node& node) {
    if (!names_.insert(node.name).second) return bad_input("this name occurs twice");
    if (const auto attributes = entry.find("attr"); attributes != entry.end() && attributes->is_object())
      for (const auto& [key, value] : attributes->items()) {
        DRIFTSCOPE_TRY(auto read, attribute_in(value));
        if (read) node.attributes.emplace(key, *std::move(read));
      }
    if (const auto inputs = entry.find("input"); inputs != entry.end() && inputs->is_array())
      for (const json& input : *inputs) {
        if (!input.is_string()) return bad_input("an input that is not a string");
        const auto& text = input.get_ref<const std::string&>();
        if (!text.starts_with("^")) node.inputs.push_back(plain_name(text));
      }
    if (node.op == "Placeholder") return add_input(node);
    if (node.op == "Const") return add_constant(node);
    if (node.op != "NoOp") graph_.nodes.push_back(std::move(node));
    return {};
  }

  Status add_input(const tf::Node& node) {
    tf::TensorInfo info;
    const auto dtype = node.attributes.find("dtype");
    if (dtype != node.attributes.end())
      if (const auto* type = std::get_if<DType>(&dtype->second)) info.dtype = *type;
    const auto shape = node.attributes.find("shape");
    const auto* given =
        shape == node.attributes.end() ? nullptr : std::get_if<tf::ShapeAttribute>(&shape->second);
    if (given == nullptr) return unsupported("an input whose rank is not known");
    info.shape = given->shape;
    graph_.inputs.push_back(node.name);
    graph_.tensors.emplace(node.name, std::move(info));
    return {};
  }

  Status add_constant(const tf::Node& node) {
    const auto found = weights_.find(node.name);
    if (found == weights_.end()) return bad_input("a constant without an entry in weightsManifest");
    graph_.tensors.emplace(node.name, tf::TensorInfo{found->second.dtype(), found->second.shape(), {}});
    graph_.constants.emplace(node.name, found->second);
    return {};
  }

  Status put_in_order() {
    std::unordered_map<std::string, std::size_t> places;
    std::vector<std::string> labels;
    for (const tf::Node& node : graph_.nodes) {
      places.emplace(node.name, labels.size());
      labels.push_back(node.name);
    }
    std::vector<std::vector<std::size_t>> dependencies;
    for (const tf::Node& node : graph_.nodes) {
      dependencies.emplace_back();
      for (const std::string& input : node.inputs) {
        if (graph_.tensors.contains(input)) continue;
        const auto exact = places.find(input);
        const auto maker = exact != places.end() ? exact : places.find(node_of(input));
        if (maker == places.end())
          return bad_input(fmt::format("node {} reads {}, which nothing produces", in_quotes(node.name),
                                       in_quotes(input)));
        dependencies.back().push_back(maker->second);
      }
    }
    DRIFTSCOPE_TRY(const auto order, topological_order(dependencies, labels));
    std::vector<tf::Node> ordered;
    for (const std::size_t place : order) ordered.push_back(std::move(graph_.nodes[place]));
    graph_.nodes = std::move(ordered);
    return {};
  }

  Status add_outputs(const json& model) {
    const json* signature = nullptr;
    if (const auto found = model.find("signature"); found != model.end()) signature = &*found;
    if (const auto user = model.find("userDefinedMetadata");
        signature == nullptr && user != model.end() && user->is_object() && user->contains("signature"))
      signature = &(*user)["signature"];
    if (signature != nullptr && signature->is_object())
      if (const auto outputs = signature->find("outputs");
          outputs != signature->end() && outputs->is_object())
        for (const auto& [key, value] : outputs->items())
          if (value.is_object() && value.contains("name") && value["name"].is_string())
            DRIFTSCOPE_CHECK(add_output(plain_name(value["name"].get<std::string>())));
    if (!graph_.outputs.empty()) return {};
    std::set<std::string> read;
    for (const tf::Node& node : graph_.nodes)
      for (const std::string& input : node.inputs)
        read.insert(names_.contains(input) ? input : node_of(input));
    for (const tf::Node& node : graph_.nodes)
      if (!read.contains(node.name)) graph_.outputs.push_back(node.name);
    if (graph_.outputs.empty()) return bad_input("it has no outputs");
    return {};
  }

  Status add_output(const std::string& name) {
    if (!names_.contains(name) && !names_.contains(node_of(name)))
      return bad_input(
          fmt::format("the signature names the output {}, which nothing produces", in_quotes(name)));
    for (const std::string& known : graph_.outputs)
      if (known == name) return {};
    graph_.outputs.push_back(name);
    return {};
  }

  const WeightFiles& files_;
  std::map<std::string, Tensor, std::less<>> weights_;
  std::set<std::string, std::less<>> names_;
  tf::TfGraph graph_;
};

}  // namespace

bool is_tfjs_model(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  return begin != std::string_view::npos && text[begin] == '{' &&
         (text.find("\"modelTopology\"") != std::string_view::npos ||
          text.find("\"graph-model\"") != std::string_view::npos);
}

Result<tf::TfGraph> read_graph_model(std::string_view text, const WeightFiles& files) {
  const JsonWalk walk = walk_json(text, deepest);
  if (!walk.valid)
    return bad_input(walk.too_deep ? "model.json is nested too deeply" : "model.json is not JSON");
  const json model = parse_json(text);
  if (!model.is_object()) return bad_input("model.json is not an object");
  auto graph = Reader(files).read(model);
  if (!graph.ok()) return in_context(std::move(graph).error(), "TensorFlow.js model");
  return graph;
}

}  // namespace driftscope::convert::tfjs
