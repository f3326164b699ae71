// Compiled for size on the web (cmake/core.cmake).
#include "core/numerics/error_model.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "core/model/element.hpp"
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

ErrorModel wide_model(ErrorModel model) {
  model.unit_roundoff = 0x1p-51;
  model.rounds_to_nearest = false;
  model.ulp = 0x1p-50;
  model.division_ulp = model.sqrt_ulp = 2.0;
  model.largest = model.widest = std::numeric_limits<double>::max();
  model.absolute = std::numeric_limits<double>::min();
  for (const auto function : functions) (model.*function).absolute = model.absolute;
  return model;
}

}  // namespace

double ErrorModel::lambda(std::int64_t terms) const {
  const double events = 2.0 * static_cast<double>(terms) * static_cast<double>(elements);
  return std::sqrt(2.0 * std::log(events / chance_per_tensor));
}

ErrorModel error_model_for(const ErrorModel& model, DType dtype) {
  ErrorModel changed = model;
  visit_floating(dtype, [&]<class E>() {
    if constexpr (E::bits < 32)
      changed = narrow_model(model, std::ldexp(1.0, 1 - E::digits), E::largest, E::smallest_normal);
    else if constexpr (E::bits == 64)
      changed = wide_model(model);
  });
  return changed;
}

const ErrorModel& current_error_model() { return *current(); }

ErrorModelScope::ErrorModelScope(const ErrorModel& model) : model_(model), previous_(current()) {
  thread_slot() = &model_;
}
ErrorModelScope::~ErrorModelScope() { thread_slot() = previous_; }

}  // namespace driftscope
