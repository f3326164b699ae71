// What a run of a model covers, as a guide: an input is worth keeping if it makes the model do something new.
// Clients: the generator. Pure: activations come from outside.
// Sources: Ma et al. 2018, "DeepGauge" (KMNC, NBC); Odena et al. 2019, "TensorFuzz" (nearest neighbours).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace driftscope {

/// What a model did with one input.
struct Activations {
  std::vector<float> neurons;  ///< the mean of each channel of each layer
  std::vector<float> outputs;  ///< scores of classes, before a Softmax
};

class Coverage {
 public:
  virtual ~Coverage() = default;
  /// Whether these activations cover what none before did; then they count as covered.
  [[nodiscard]] virtual bool adds(const Activations& run) = 0;
  /// Nothing is covered.
  virtual void forget() = 0;
  /// Share of all that can be covered; below 0: there is no whole.
  [[nodiscard]] virtual double share() const = 0;
};

enum class Criterion {
  kmnc,       ///< each neuron's range over the originals in 1000 sections
  nbc,        ///< beyond that range: 10 sections below and above, as wide as those, and one for all further
  neighbour,  ///< outputs whose squared distance from all kept ones is above 1
};

/// `originals`, at least one, give the ranges of neurons. NaN covers nothing.
[[nodiscard]] std::unique_ptr<Coverage> make_coverage(Criterion criterion,
                                                      std::span<const Activations> originals);

}  // namespace driftscope
