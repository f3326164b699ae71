#include "native/host/replayed_sink.hpp"

#include <fmt/format.h>

#include <functional>
#include <string_view>

#include "core/base/text.hpp"

namespace driftscope {

TensorSink ReplayedSink::sink() {
  if (!inner_) return {};
  return [this](const std::string& name, const Tensor& tensor) { return take(name, tensor); };
}

Status ReplayedSink::replayed() const {
  if (at_ == taken_.size()) return {};
  return missing_error(
      fmt::format("the second browser does not compute what the lost one had: {} did not come again ({} of "
                  "{} values did). Run it again, so that all values are of one browser",
                  in_quotes(taken_[at_].first), at_, taken_.size()));
}

Status ReplayedSink::take(const std::string& name, const Tensor& tensor) {
  const auto bytes = tensor.bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::pair<std::string, std::size_t> mark(name, std::hash<std::string_view>()(text));
  if (at_ == taken_.size()) {
    taken_.push_back(std::move(mark));
    ++at_;
    return inner_(name, tensor);
  }
  if (taken_[at_] == mark) {
    ++at_;
    return {};
  }
  return missing_error(
      fmt::format("the second browser does not compute what the lost one had: {} differs. "
                  "Run it again, so that all values are of one browser",
                  in_quotes(name)));
}

}  // namespace driftscope
