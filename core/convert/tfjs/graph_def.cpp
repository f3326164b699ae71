#include "core/convert/tfjs/graph_def.hpp"

#include <string>

#include "core/base/base64.hpp"

namespace driftscope::convert::tfjs {
namespace {

using nlohmann::json;

std::string_view type_name(DType dtype) {
  switch (dtype) {
    case DType::int32: return "DT_INT32";
    case DType::boolean: return "DT_BOOL";
    default: return "DT_FLOAT";
  }
}

json shape_json(const Shape& shape) {
  json dimensions = json::array();
  for (const std::int64_t size : shape) dimensions.push_back({{"size", std::to_string(size)}});
  return {{"dim", std::move(dimensions)}};
}

// 64-bit integers are strings in protobuf's JSON.
struct AttributeJson {
  json operator()(bool value) const { return {{"b", value}}; }
  json operator()(std::int64_t value) const { return {{"i", std::to_string(value)}}; }
  json operator()(float value) const { return {{"f", value}}; }
  json operator()(const std::string& value) const { return {{"s", base64(value)}}; }
  json operator()(DType value) const { return {{"type", type_name(value)}}; }
  json operator()(const tf::ShapeAttribute& value) const { return {{"shape", shape_json(value.shape)}}; }
  json operator()(const std::vector<std::int64_t>& values) const {
    json list = json::array();
    for (const std::int64_t value : values) list.push_back(std::to_string(value));
    return {{"list", {{"i", std::move(list)}}}};
  }
  json operator()(const std::vector<float>& values) const { return {{"list", {{"f", values}}}}; }
  json operator()(const std::vector<std::string>& values) const {
    json list = json::array();
    for (const std::string& value : values) list.push_back(base64(value));
    return {{"list", {{"s", std::move(list)}}}};
  }
};

json placeholder(const std::string& name, const tf::TensorInfo& info) {
  return {{"name", name},
          {"op", "Placeholder"},
          {"attr",
           {{"dtype", {{"type", type_name(info.dtype)}}}, {"shape", {{"shape", shape_json(info.shape)}}}}}};
}

json constant(const std::string& name, const tf::TensorInfo& info) {
  const json tensor = {{"dtype", type_name(info.dtype)}, {"tensorShape", shape_json(info.shape)}};
  return {{"name", name},
          {"op", "Const"},
          {"attr", {{"dtype", {{"type", type_name(info.dtype)}}}, {"value", {{"tensor", tensor}}}}}};
}

}  // namespace

json graph_def(const tf::TfGraph& graph) {
  json nodes = json::array();
  for (const std::string& name : graph.inputs) nodes.push_back(placeholder(name, graph.tensors.at(name)));
  for (const auto& [name, tensor] : graph.constants) nodes.push_back(constant(name, graph.tensors.at(name)));
  for (const tf::Node& node : graph.nodes) {
    json attributes = json::object();
    for (const auto& [name, value] : node.attributes) attributes[name] = std::visit(AttributeJson(), value);
    json made = {
        {"name", node.name}, {"op", node.op}, {"input", node.inputs}, {"attr", std::move(attributes)}};
    if (!node.source.empty()) made["experimentalDebugInfo"] = {{"originalNodeNames", {node.source}}};
    nodes.push_back(std::move(made));
  }
  return {{"node", std::move(nodes)}, {"library", json::object()}, {"versions", {{"producer", 1}}}};
}

json signature_of(const tf::TfGraph& graph, const std::vector<std::string>& tensors) {
  json signature = json::object();
  for (const std::string& name : tensors) {
    const tf::TensorInfo& info = graph.tensors.at(name);
    signature[name] = {{"name", name.find(':') == std::string::npos ? name + ":0" : name},
                       {"dtype", type_name(info.dtype)},
                       {"tensorShape", shape_json(info.shape)}};
  }
  return signature;
}

}  // namespace driftscope::convert::tfjs
