#include "core/quantize/lut_mode.hpp"

#include <fmt/format.h>

#include <cstring>

#include "core/base/text.hpp"
#include "core/model/tensor_elements.hpp"
#include "core/quantize/lookup_table.hpp"

namespace driftscope::quantize {

Status apply_lut(ModelEdit& edit, const ModeOptions& options, int bits, std::vector<std::string>& notes) {
  const std::size_t entries = std::size_t{1} << bits;
  return compress_weights(
      edit, options,
      [&](ModelEdit& to, const std::string& name, const Tensor& weight,
          const WeightUse&) -> Result<std::string> {
        // A table that is as large as the weight saves nothing.
        if (static_cast<std::size_t>(weight.elements()) <= entries) {
          notes.push_back(fmt::format("{} has {} elements, no more than the table would have: left in float",
                                      in_quotes(name), weight.elements()));
          return name;
        }
        const LookupTable found = lookup_table(weight.values<float>(), entries);
        DRIFTSCOPE_TRY(Tensor table, Tensor::from_values<float>({std::ssize(found.table)}, found.table));
        DRIFTSCOPE_TRY(Tensor places, Tensor::make(bits == 4 ? DType::uint4 : DType::uint8, weight.shape()));
        if (bits == 4)
          for (std::size_t i = 0; i < found.indices.size(); ++i) store_packed(places, i, found.indices[i]);
        else
          std::memcpy(places.mutable_bytes().data(), found.indices.data(), found.indices.size());
        const std::string indices = to.add_constant(name + ".indices", std::move(places));
        // Gather takes indices of 32 or 64 bits alone.
        const std::string wide = to.emit("Cast", name + "/Cast", {indices},
                                         {int_attribute_of("to", static_cast<std::int64_t>(DType::int32))});
        return to.emit("Gather", name + "/Gather",
                       {to.add_constant(name + ".table", std::move(table)), wide});
      });
}

}  // namespace driftscope::quantize
