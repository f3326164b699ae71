#include "core/numerics/error_model.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "core/platform/platform.hpp"

namespace driftscope {
namespace {

constexpr double chance_per_tensor = 1e-9;

constexpr std::array functions = {&ErrorModel::exp,     &ErrorModel::log,        &ErrorModel::tanh,
                                  &ErrorModel::sigmoid, &ErrorModel::sin,        &ErrorModel::tan,
                                  &ErrorModel::asin,    &ErrorModel::hyperbolic, &ErrorModel::erf,
                                  &ErrorModel::atan,    &ErrorModel::pow,        &ErrorModel::gelu_erf};

const ErrorModel ieee_model;

// The thread's slot points to the model of the innermost scope.
const ErrorModel* current() {
  const void* model = thread_slot();
  return model == nullptr ? &ieee_model : static_cast<const ErrorModel*>(model);
}

ErrorModel narrow_model(ErrorModel model, double ulp, double largest, double smallest_normal) {
  // Whether intermediate results were rounded to the narrow type or kept in float32 is not known:
  // the budget allows both.
  model.unit_roundoff = ulp / 2;
  model.ulp = ulp;
  model.largest = largest;
  model.absolute = smallest_normal * ulp / 2;
  for (const auto function : functions) {
    FunctionAccuracy& f = model.*function;
    f.absolute = std::fmax(f.absolute, smallest_normal * ulp);
  }
  return model;
}

}  // namespace

double ErrorModel::lambda(std::int64_t terms) const {
  const double events = 2.0 * static_cast<double>(terms) * static_cast<double>(elements);
  return std::sqrt(2.0 * std::log(events / chance_per_tensor));
}

ErrorModel error_model_for(const ErrorModel& model, DType dtype) {
  switch (dtype) {
    case DType::float16: return narrow_model(model, 0x1p-10, 65504.0, 0x1p-14);
    case DType::bfloat16: return narrow_model(model, 0x1p-7, 0x1.fep127, 0x1p-126);
    case DType::float64: {
      ErrorModel wide = model;
      wide.unit_roundoff = 0x1p-51;
      wide.rounds_to_nearest = false;
      wide.ulp = 0x1p-50;
      wide.division_ulp = wide.sqrt_ulp = 2.0;
      wide.largest = wide.widest = std::numeric_limits<double>::max();
      wide.absolute = std::numeric_limits<double>::min();
      for (const auto function : functions) (wide.*function).absolute = wide.absolute;
      return wide;
    }
    default: return model;
  }
}

const ErrorModel& current_error_model() { return *current(); }

ErrorModelScope::ErrorModelScope(const ErrorModel& model) : model_(model), previous_(current()) {
  thread_slot() = &model_;
}
ErrorModelScope::~ErrorModelScope() { thread_slot() = previous_; }

}  // namespace driftscope
