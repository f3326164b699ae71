#include <algorithm>

#include "core/eval/evaluate.hpp"

namespace driftscope {

static constexpr std::int64_t filling_grain = 1 << 15;  // elements worth handing to a thread

template <class S>
std::vector<S> OutputMemory<S>::take(std::size_t size, ThreadPool& threads) {
  std::vector<S> values = std::move(spare_);
  spare_ = {};
  if (values.capacity() < size) {
    values = {};  // before the larger one is allocated
    return std::vector<S>(size);
  }
  const std::size_t used = std::min(values.size(), size);
  values.resize(size);
  threads.parallel_for(static_cast<std::int64_t>(used), filling_grain,
                       [&](std::int64_t begin, std::int64_t end) {
                         std::fill(values.begin() + begin, values.begin() + end, S());
                       });
  return values;
}

template <class S>
void OutputMemory<S>::give_back(std::vector<S> values) {
  if (values.capacity() > spare_.capacity()) spare_ = std::move(values);
}

template class OutputMemory<Bounded>;
template class OutputMemory<double>;
template class OutputMemory<float>;

}  // namespace driftscope
