// Attacks on classifiers: inputs are changed little until the answer is wrong. An attack is a state machine
// that asks for classes or gradients of a batch of inputs and is told them, so that every host can serve
// it; it runs nothing and knows no targets. A method is a file in methods/: each FOO.cpp defines `void
// driftscope::attack_methods::foo::add_to(AttackMethodTable&)`; the table is generated from the folder.
// Client: native/host/attack_run.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/tensor.hpp"

namespace driftscope {

/// A sample in the data's own units (pixels in [0, 1]), all of one shape, and its class.
struct AttackSample {
  std::vector<float> values;
  std::int64_t label = 0;
};

/// Words that may stand for others, of models that read tokens.
struct WordChoices {
  /// By token: those nearest to it, nearest first; none for tokens that are no words or are never replaced.
  std::map<std::int64_t, std::vector<std::int64_t>> neighbours;
  std::int64_t pad = 0;
};

struct AttackSettings {
  double epsilon = 0.0;    ///< the largest change of an element, in the data's units
  std::int64_t steps = 0;  ///< 0: as the method has it
  std::uint64_t seed = 42;
  float low = 0.0f;  ///< results are clipped to [low, high]
  float high = 1.0f;
  std::int64_t channels = 1;
  /// Distance in `values` between the channels of a pixel; C·H·W has H·W, H·W·C has 1.
  std::int64_t channel_stride = 1;
  /// Methods of several steps ask after each one, and a sample that is answered wrongly takes no more.
  bool stops_at_success = true;
  /// What they ask then is rounded to 8 bits, as it will be stored and judged.
  bool in_8_bits = false;
  bool clips = true;  ///< results to [low, high]; false is a slip of a study (AttackMethod::published_slip)
  WordChoices words = {};  ///< of methods that replace words: `values` are then tokens
};

/// Scores are the model's first output, a number for each class.
enum class AttackAsks { classes, gradients, scores };

/// What an attack wants to know next: inputs, and of which samples they are.
struct AttackQuestion {
  AttackAsks asks = AttackAsks::classes;
  std::vector<std::size_t> samples;
  std::vector<std::vector<float>> values;  ///< one for each of `samples`, which may repeat
};

struct AttackAnswer {
  std::vector<std::int64_t> classes;  ///< of `classes`: as many as asked
  std::vector<std::vector<float>> scores = {};
  std::vector<std::vector<float>> gradients;  ///< of `gradients`: of the sample's loss, in the data's units
};

struct AttackOutcome {
  std::vector<float> values;  ///< the adversarial, or the last one tried
  bool success = false;       ///< the class was another than the label
  std::int64_t queries = 0;   ///< classes and gradients asked for
};

class Attack {
 public:
  virtual ~Attack() = default;
  /// Nothing: the attack is over. Each question is answered with take() before the next.
  [[nodiscard]] virtual std::optional<AttackQuestion> next() = 0;
  /// Errors: another number of answers than was asked for.
  [[nodiscard]] virtual Status take(const AttackAnswer& answer) = 0;
  /// By sample, once it is over.
  [[nodiscard]] virtual std::vector<AttackOutcome> outcomes() const = 0;
};

struct AttackMethod {
  int order = 50;  ///< in lists
  std::string_view name;
  std::string_view help;  ///< for the command line
  bool needs_epsilon = false;
  bool needs_gradients = false;
  bool replaces_words = false;  ///< for models that read tokens; the others change pictures
  /// What `--as-published` does wrong with it, as a study did; "": there is nothing.
  std::string_view published_slip = "";
  std::unique_ptr<Attack> (*make)(std::vector<AttackSample> samples,
                                  const AttackSettings& settings) = nullptr;
};

class AttackMethodTable {
 public:
  void add(const AttackMethod& method);
  [[nodiscard]] std::span<const AttackMethod> all() const { return methods_; }  ///< in their order

 private:
  std::vector<AttackMethod> methods_;
};

/// All of this build (generated).
[[nodiscard]] const AttackMethodTable& attack_method_table();

/// The error lists those that there are.
[[nodiscard]] Result<const AttackMethod*> find_attack_method(std::string_view name);

/// Checks settings, samples and their sizes, and makes the attack.
[[nodiscard]] Result<std::unique_ptr<Attack>> make_attack(const AttackMethod& method,
                                                          std::vector<AttackSample> samples,
                                                          const AttackSettings& settings);

/// The nearest of 0, 1/255, …, 1 (half to even), as 8-bit pictures keep an element of [0, 1].
[[nodiscard]] float stored_in_8_bits(float value);

/// Errors of an answer that does not fit its question.
[[nodiscard]] Status check_answer(const AttackQuestion& question, const AttackAnswer& answer);

}  // namespace driftscope
