#include "core/results/layer_results.hpp"

#include <cmath>

#include "core/results/comparison_view.hpp"

namespace driftscope {

ResultCell::ResultCell(const LayerResults& of, std::size_t layer, std::size_t target)
    : LayerState(of.state(layer, target)), results_(&of), layer_(layer), target_(target) {}

double ResultCell::operator[](Metric metric) const { return results_->value(layer_, target_, metric); }

std::int64_t ResultCell::whole(Metric metric) const {
  const double value = (*this)[metric];
  return std::isnan(value) ? 0 : static_cast<std::int64_t>(value);
}

const std::string& ResultCell::note() const { return results_->note(layer_, target_); }

bool ResultCell::differs() const { return mismatch || (*this)[compared_metric("different_elements")] > 0.0; }

std::int64_t ResultCell::nan() const {
  return whole(compared ? compared_metric("nan") : verified_metric("nan"));
}

std::int64_t ResultCell::inf() const {
  return whole(compared ? compared_metric("inf") : verified_metric("inf"));
}

LayerResults::LayerResults(std::size_t layers, std::size_t targets)
    : layers_(layers), targets_(targets), states_(layers * targets), columns_(targets * metric_count) {}

const std::string& LayerResults::note(std::size_t layer, std::size_t target) const {
  static const std::string none;
  const auto found = notes_.find(target * layers_ + layer);
  return found == notes_.end() ? none : found->second;
}

void LayerResults::set(std::size_t layer, std::size_t target, Metric metric, double value) {
  columns_[target * metric_count + static_cast<std::size_t>(metric)].set(layer, value);
}

void LayerResults::add_note(std::size_t layer, std::size_t target, const std::string& text) {
  if (text.empty()) return;
  std::string& note = notes_[target * layers_ + layer];
  if (note.find(text) == std::string::npos) note += (note.empty() ? "" : "; ") + text;
}

template <class Layer>
void LayerResults::set_metrics(std::size_t layer, std::size_t target, MetricSource source,
                               const Layer& record) {
  for (std::size_t i = 0; i < metric_count; ++i)
    if (metric_columns[i].source == source)
      set(layer, target, static_cast<Metric>(i), metric_value(*metric_columns[i].row, record));
}

void LayerResults::set_times(std::size_t layer, std::size_t target, const LayerTimes& times) {
  if (times.steady_ns != 0) set(layer, target, timed_metric("time"), static_cast<double>(times.steady_ns));
  if (times.first_ns != 0)
    set(layer, target, timed_metric("first_time"), static_cast<double>(times.first_ns));
}

void LayerResults::set_findings(std::size_t layer, std::size_t target, const LayerDifference* difference,
                                const LayerVerdict* verified) {
  LayerState& state = this->state(layer, target);
  if (difference != nullptr) {
    add_note(layer, target, difference->reason);
    if (std::isnan(value(layer, target, timed_metric("time"))))
      set_times(layer, target, {difference->right_ns, 0});
    state.mismatch = difference->recorded && !difference->reason.empty();
    state.compared = difference->recorded && !state.mismatch;
    if (state.compared) set_metrics(layer, target, MetricSource::compare, *difference);
  }
  if (verified != nullptr && verified->verdict != Verdict::missing) {
    state.verified = true;
    set_metrics(layer, target, MetricSource::verify, *verified);
  }
  if (verified != nullptr) add_note(layer, target, reason_of(*verified));
  if (difference != nullptr && target > 0) {
    state.verdict = combined_verdict(*difference, verified);
    state.inherited = verified != nullptr && verified->verdict == Verdict::identical &&
                      difference->metrics.different_elements > 0;
  } else {
    state.verdict = verified == nullptr ? Verdict::missing : verified->verdict;
  }
}

void LayerResults::compact(std::size_t target) {
  for (std::size_t i = 0; i < metric_count; ++i) columns_[target * metric_count + i].compact();
}

std::size_t LayerResults::bytes() const {
  std::size_t bytes = sizeof *this + states_.capacity() * sizeof(LayerState);
  for (const MetricColumn& column : columns_) bytes += column.bytes();
  constexpr std::size_t node = 64;  // of the hash map, about
  for (const auto& [place, note] : notes_) bytes += node + note.capacity();
  return bytes;
}

}  // namespace driftscope
