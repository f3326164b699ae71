#include "core/eval/float_kernels.hpp"

#include <utility>

namespace driftscope {
namespace {

thread_local const FloatKernels* current_kernels = nullptr;

}  // namespace

FloatKernelsScope::FloatKernelsScope(const FloatKernels& kernels)
    : outer_(std::exchange(current_kernels, &kernels)) {}

FloatKernelsScope::~FloatKernelsScope() { current_kernels = outer_; }

const FloatKernels* current_float_kernels() { return current_kernels; }

}  // namespace driftscope
