#include "core/results/verify_json.hpp"

#include "core/results/verify_names.hpp"
#include "generated/documents/verify.hpp"

namespace driftscope {

void write_verification(JsonWriter& out, const Verification& verification) {
  write_document(out, verification, [&](JsonWriter& list) {
    list.begin_array();
    for (const LayerVerdict& layer : verification.layers) {
      nlohmann::ordered_json object = encode(layer);
      if (layer.external) object[verification.budgets] = encode(*layer.external);
      list.value(object);
    }
    list.end();
  });
}

std::string verification_json(const Verification& verification) {
  JsonWriter out;
  write_verification(out, verification);
  return out.take();
}

}  // namespace driftscope
