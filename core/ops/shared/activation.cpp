#include "core/ops/shared/activation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/graph/attributes.hpp"

namespace driftscope {
namespace {

struct Row {
  std::string_view name;
  Activation::Kind kind;
  bool has_alpha;
  float alpha;
  bool has_beta;
  float beta;
};

using Kind = Activation::Kind;
constexpr std::array<Row, 11> known_activations = {{
    {"relu", Kind::relu, false, 0, false, 0},
    {"tanh", Kind::tanh, false, 0, false, 0},
    {"sigmoid", Kind::sigmoid, false, 0, false, 0},
    {"affine", Kind::affine, true, 1, true, 0},
    {"leakyrelu", Kind::leaky_relu, true, 0.01f, false, 0},
    {"thresholdedrelu", Kind::thresholded_relu, true, 1, false, 0},
    {"scaledtanh", Kind::scaled_tanh, true, 1, true, 1},
    {"hardsigmoid", Kind::hard_sigmoid, true, 0.2f, true, 0.5f},
    {"elu", Kind::elu, true, 1, false, 0},
    {"softsign", Kind::softsign, false, 0, false, 0},
    {"softplus", Kind::softplus, false, 0, false, 0},
}};

// Exporters write the names in different ways.
const Row* find(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  for (const Row& row : known_activations)
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace

Result<std::vector<Activation>> read_activations(const Node& node, std::size_t directions,
                                                 const std::vector<std::string>& defaults) {
  std::vector<std::string> standard;
  for (std::size_t d = 0; d < directions; ++d)
    standard.insert(standard.end(), defaults.begin(), defaults.end());
  DRIFTSCOPE_TRY(std::vector<std::string> names, strings_attribute(node, "activations", standard));
  if (names.empty()) names = standard;
  if (names.size() != standard.size())
    return bad_input(fmt::format("attribute activations: expected {} names, {} per direction, got {}",
                                 standard.size(), defaults.size(), names.size()));
  DRIFTSCOPE_TRY(const std::vector<float> alphas, floats_attribute(node, "activation_alpha", {}));
  DRIFTSCOPE_TRY(const std::vector<float> betas, floats_attribute(node, "activation_beta", {}));
  std::vector<Activation> result;
  std::size_t alpha = 0;
  std::size_t beta = 0;
  for (const std::string& name : names) {
    const Row* row = find(name);
    if (row == nullptr)
      return unsupported(
          fmt::format("attribute activations: \"{}\" is not one of Relu, Tanh, Sigmoid, Affine, LeakyRelu, "
                      "ThresholdedRelu, ScaledTanh, HardSigmoid, Elu, Softsign, Softplus",
                      name));
    Activation activation{row->kind, row->alpha, row->beta};
    if (row->has_alpha && alpha < alphas.size()) activation.alpha = alphas[alpha++];
    if (row->has_beta && beta < betas.size()) activation.beta = betas[beta++];
    result.push_back(activation);
  }
  return result;
}

}  // namespace driftscope
