// Swish, opset 24 to 26, and com.microsoft QuickGelu: x·σ(alpha·x), alpha 1 and 1.702 if not given.
#include "core/graph/attributes.hpp"
#include "core/numerics/math.hpp"
#include "core/ops/shared/domains.hpp"
#include "core/ops/shared/elementwise.hpp"

namespace driftscope::ops::swish {

struct Swish {
  static constexpr Kinds kinds = Kinds::floating;
  float alpha = 1.0F;

  static Result<Swish> read(const Node& node) {
    DRIFTSCOPE_TRY(const float alpha, float_attribute(node, "alpha", node.domain.empty() ? 1.0F : 1.702F));
    return Swish{alpha};
  }
  template <class S>
  S apply(S x) const {
    return x * math::sigmoid(math::given<S>(alpha) * x);
  }
};

void add_to(OperatorTable& table) {
  add_unary<Swish>(table, "Swish", 24);
  table.add(with_kernels<Unary<Swish>>({.op_type = "QuickGelu",
                                        .domain = microsoft_domain,
                                        .inputs = {1, 1},
                                        .outputs = {1, 1},
                                        .infer = Unary<Swish>::infer}));
}

}  // namespace driftscope::ops::swish
