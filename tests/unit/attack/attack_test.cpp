// Attacks on a linear classifier, where the results are known in closed form.
#include "core/attack/attack.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "core/attack/data_units.hpp"

namespace driftscope::test {
namespace {

// Two classes; the second wins where w·x > bias. The loss of label 0 grows along w, that of label 1 against
// it.
struct LinearModel {
  std::vector<float> w;
  float bias = 0.0f;

  [[nodiscard]] float score(const std::vector<float>& x) const {
    float sum = -bias;
    for (std::size_t i = 0; i < x.size(); ++i) sum += w[i] * x[i];
    return sum;
  }
  [[nodiscard]] AttackAnswer answer(const AttackQuestion& question,
                                    std::span<const AttackSample> samples) const {
    AttackAnswer answer;
    for (std::size_t k = 0; k < question.samples.size(); ++k) {
      if (question.asks == AttackAsks::classes) {
        answer.classes.push_back(score(question.values[k]) > 0.0f ? 1 : 0);
        continue;
      }
      const float sign = samples[question.samples[k]].label == 0 ? 1.0f : -1.0f;
      const float p = 1.0f / (1.0f + std::exp(sign * score(question.values[k])));
      answer.gradients.emplace_back();
      for (const float one : w) answer.gradients.back().push_back(sign * (1.0f - p) * one);
    }
    return answer;
  }
};

std::vector<AttackOutcome> attacked(std::string_view name, const std::vector<AttackSample>& samples,
                                    const AttackSettings& settings, const LinearModel& model) {
  const auto method = find_attack_method(name);
  REQUIRE_MESSAGE(method.ok(), method.error().message);
  const auto attack = make_attack(**method, samples, settings);
  REQUIRE_MESSAGE(attack.ok(), attack.error().message);
  int questions = 0;
  while (const auto question = (*attack)->next()) {
    REQUIRE(++questions < 10000);
    REQUIRE((*attack)->take(model.answer(*question, samples)).ok());
  }
  return (*attack)->outcomes();
}

std::string refusal(std::string_view name, std::vector<AttackSample> samples,
                    const AttackSettings& settings) {
  const auto method = find_attack_method(name);
  if (!method.ok()) return method.error().message;
  const auto attack = make_attack(**method, std::move(samples), settings);
  return attack.ok() ? "" : attack.error().message;
}

}  // namespace

TEST_CASE("Attack_Fgsm_IsOneStepOfEpsilonAlongTheSign") {
  const LinearModel model{{2.0f, -1.0f, 0.0f, 0.5f}, 0.0f};
  // Scores −0.5 and +0.85; a step moves them by ε·(2 + 1 + 0.5), less where the range ends.
  const std::vector<AttackSample> samples = {{{0.1f, 0.9f, 0.5f, 0.4f}, 0}, {{0.5f, 0.2f, 0.5f, 0.1f}, 1}};
  AttackSettings settings;
  settings.epsilon = 0.2;
  const auto outcomes = attacked("fgsm", samples, settings, model);
  CHECK(outcomes[0].success);
  CHECK_FALSE(outcomes[1].success);
  CHECK(outcomes[0].queries == 2);
  const std::vector<float> want = {0.3f, 0.7f, 0.5f, 0.6f};
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(outcomes[0].values[i] == doctest::Approx(want[i]));
  CHECK(outcomes[1].values[3] == 0.0f);  // clipped to the range
  CHECK(outcomes[1].values[0] == doctest::Approx(0.3f));
}

TEST_CASE("Attack_Bim_StaysInTheBall") {
  const LinearModel model{{1.0f, -1.0f}, 10.0f};  // never fooled
  const std::vector<AttackSample> samples = {{{0.5f, 0.5f}, 0}};
  AttackSettings settings;
  settings.epsilon = 0.1;
  CHECK(attacked("bim", samples, settings, model)[0].queries == 20);  // the answer after each step
  settings.stops_at_success = false;
  const auto ten = attacked("bim", samples, settings, model);
  CHECK_FALSE(ten[0].success);
  CHECK(ten[0].queries == 11);
  CHECK(ten[0].values[0] == doctest::Approx(0.6f));
  CHECK(ten[0].values[1] == doctest::Approx(0.4f));
  settings.steps = 2;  // of 0.02 each
  const auto two = attacked("bim", samples, settings, model);
  CHECK(two[0].values[0] == doctest::Approx(0.54f));
}

TEST_CASE("Attack_Bim_EachSampleStopsAtItsOwnSuccess") {
  const LinearModel model{{1.0f, -1.0f}, 0.0f};
  // Scores −0.1 and −0.5: a step of 0.02 moves each by 0.04.
  const std::vector<AttackSample> samples = {{{0.45f, 0.55f}, 0}, {{0.25f, 0.75f}, 0}};
  AttackSettings settings;
  settings.epsilon = 0.1;
  const auto stopped = attacked("bim", samples, settings, model);
  CHECK(stopped[0].success);
  CHECK(stopped[0].queries == 6);
  CHECK(stopped[0].values[0] == doctest::Approx(0.51f));
  CHECK_FALSE(stopped[1].success);
  CHECK(stopped[1].queries == 20);
  settings.stops_at_success = false;
  const auto all = attacked("bim", samples, settings, model);
  CHECK(all[0].success);
  CHECK(all[0].values[0] == doctest::Approx(0.55f));
  // What is stored decides when to stop: 0.51 and 0.49 lie beyond the middle by 0.01, 131/255 and 124/255.
  settings.stops_at_success = true;
  settings.in_8_bits = true;
  const auto stored = attacked("bim", samples, settings, model);
  CHECK(stored[0].success);
  for (const float value : stored[0].values) CHECK(stored_in_8_bits(value) == value);
}

TEST_CASE("Attack_WithoutClipping_LeavesTheRange") {
  const LinearModel model{{1.0f}, 2.0f};
  AttackSettings settings;
  settings.epsilon = 0.3;
  settings.clips = false;  // as the PyTorch samples of Openja et al.
  CHECK(attacked("fgsm", {{{0.9f}, 0}}, settings, model)[0].values[0] == doctest::Approx(1.2f));
  CHECK_FALSE((*find_attack_method("fgsm"))->published_slip.empty());
  CHECK((*find_attack_method("bim"))->published_slip.empty());
}

TEST_CASE("Attack_SinglePixel_FindsTheOnlyOneThatMatters") {
  // Of 5×4 pixels with 3 channels, only pixel 13 can change the class, by its smallest value.
  for (const std::int64_t stride : {std::int64_t{1}, std::int64_t{20}}) {
    LinearModel model{std::vector<float>(60, 0.0f), -1.4f};
    std::vector<std::size_t> places;
    for (std::size_t c = 0; c < 3; ++c) places.push_back(stride == 1 ? 13 * 3 + c : 13 + 20 * c);
    for (const std::size_t place : places) model.w[place] = -1.0f;
    const std::vector<AttackSample> samples = {{std::vector<float>(60, 0.5f), 0}};
    AttackSettings settings;
    settings.channels = 3;
    settings.channel_stride = stride;
    const auto outcomes = attacked("single-pixel", samples, settings, model);
    REQUIRE(outcomes[0].success);
    std::size_t changed = 0;
    for (std::size_t i = 0; i < 60; ++i) changed += outcomes[0].values[i] != 0.5f ? 1u : 0u;
    CHECK(changed == 3);
    for (const std::size_t place : places) CHECK(outcomes[0].values[place] == 0.0f);
    CHECK(outcomes[0].queries % 2 == 0);  // the smallest value is the second
    CHECK(outcomes[0].queries <= 40);
    CHECK(attacked("single-pixel", samples, settings, model)[0].queries == outcomes[0].queries);
    settings.steps = 1;
    settings.seed = 1;
    CHECK(attacked("single-pixel", samples, settings, model)[0].queries == 2);
  }
}

TEST_CASE("Attack_Boundary_ComesCloseToThePlane") {
  // The distance from the sample to the plane w·x = bias is |score|/‖w‖.
  LinearModel model{std::vector<float>(20, 0.0f), 0.0f};
  for (std::size_t i = 0; i < 20; ++i) model.w[i] = i % 3 == 0 ? 1.0f : -0.5f;
  std::vector<AttackSample> samples;
  samples.push_back({std::vector<float>(20, 0.5f), 0});
  samples.push_back({std::vector<float>(20, 0.4f), 0});
  samples[1].values[0] = 0.2f;
  model.bias = 0.6f;
  AttackSettings settings;
  settings.steps = 2500;
  const auto outcomes = attacked("boundary", samples, settings, model);
  double norm = 0.0;
  for (const float w : model.w) norm += static_cast<double>(w * w);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    REQUIRE(outcomes[i].success);
    CHECK(model.score(outcomes[i].values) > 0.0f);
    double sum = 0.0;
    for (std::size_t at = 0; at < 20; ++at) {
      const double moved = static_cast<double>(outcomes[i].values[at] - samples[i].values[at]);
      sum += moved * moved;
    }
    const double distance = std::abs(static_cast<double>(model.score(samples[i].values))) / std::sqrt(norm);
    CHECK(std::sqrt(sum) >= distance * (1.0 - 1e-4));
    CHECK(std::sqrt(sum) <= distance * 1.05);
  }
  // A classifier that never errs is left as it is.
  model.bias = 1000.0f;
  settings.steps = 10;
  const auto never = attacked("boundary", samples, settings, model);
  CHECK_FALSE(never[0].success);
  CHECK(never[0].values == samples[0].values);
  CHECK(never[0].queries == 1000);
}

TEST_CASE("Attack_Genetic_ReplacesAQuarterOfTheWords") {
  // The answer changes once three of the words 10 to 17 are raised above 20; a word's neighbours are itself
  // + 20 and itself + 1. Word 3 is never replaced, 0 is padding.
  AttackSettings settings;
  for (std::int64_t word = 10; word < 18; ++word) settings.words.neighbours[word] = {word + 1, word + 20};
  AttackSample sample{std::vector<float>(16, 0.0f), 0};
  for (std::size_t i = 0; i < 8; ++i) sample.values[i] = static_cast<float>(10 + i);
  for (std::size_t i = 8; i < 12; ++i) sample.values[i] = 3.0f;
  const auto run = [&](double wanted, std::int64_t steps, std::uint64_t seed) {
    settings.steps = steps;
    settings.seed = seed;
    const auto method = find_attack_method("genetic");
    REQUIRE(method.ok());
    const auto attack = make_attack(**method, {sample}, settings);
    REQUIRE(attack.ok());
    std::set<std::vector<float>> asked;
    while (const auto question = (*attack)->next()) {
      CHECK(question->asks == AttackAsks::scores);
      AttackAnswer answer;
      for (const auto& values : question->values) {
        CHECK(asked.insert(values).second);  // each text once
        double raised = 0.0;
        std::int64_t changed = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
          raised += values[i] > 20.0f ? 1.0 : 0.0;
          changed += values[i] != sample.values[i] ? 1 : 0;
          if (i >= 8) CHECK(values[i] == sample.values[i]);
        }
        CHECK(changed <= 3);  // of 12 words
        const auto p = static_cast<float>(1.0 / (1.0 + std::exp(wanted - raised)));
        answer.scores.push_back({1.0f - p, p});
      }
      REQUIRE((*attack)->take(answer).ok());
    }
    return (*attack)->outcomes()[0];
  };
  const AttackOutcome fooled = run(2.5, 0, 42);
  CHECK(fooled.success);
  CHECK(std::ranges::count_if(fooled.values, [](float x) { return x > 20.0f; }) == 3);
  CHECK(run(2.5, 0, 42).values == fooled.values);
  const AttackOutcome kept = run(3.5, 5, 42);
  CHECK_FALSE(kept.success);
  CHECK(kept.queries <= 5 * 60);  // far fewer texts than candidates: a member and its two neighbours each
  // Without words to replace there is nothing to ask.
  settings.words.neighbours.clear();
  CHECK(run(2.5, 0, 42).queries == 0);
}

TEST_CASE("Attack_BadSettings_AreRefused") {
  const std::vector<AttackSample> samples = {{{0.5f, 0.5f}, 0}};
  AttackSettings settings;
  const auto says = [](const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(says(refusal("fgsm", samples, settings), "needs a positive number"));
  settings.epsilon = std::nan("");
  CHECK(says(refusal("bim", samples, settings), "needs a positive number"));
  settings.epsilon = 0.1;
  CHECK(says(refusal("fgsm", {}, settings), "no sample"));
  CHECK(says(refusal("fgsm", {{{0.5f}, 0}, {{0.5f, 0.1f}, 0}}, settings), "differ in size"));
  settings.channels = 3;
  CHECK(says(refusal("fgsm", samples, settings), "3 channels"));
  settings.channels = 1;
  settings.low = 1.0f;
  CHECK(says(refusal("fgsm", samples, settings), "range"));
  CHECK(says(refusal("sorcery", samples, settings), "bim, single-pixel"));
}

TEST_CASE("DataUnits_OfPictures_AreExactBothWays") {
  Preprocess how;
  how.channels = 3;
  how.height = 2;
  how.width = 3;
  how.scale = 1.0f / 255.0f;
  how.mean = {0.5f, 0.25f, 0.1f};
  how.std = {0.2f, 0.3f, 0.4f};
  how.order = ChannelOrder::rgb;
  for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
    how.layout = layout;
    const auto units = DataUnits::pictures(how);
    REQUIRE(units.ok());
    std::vector<std::byte> pixels(18);
    for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::byte>(i * 14);
    const auto input = preprocess(how, pixels);
    REQUIRE_MESSAGE(input.ok(), input.error().message);
    const auto data = units->data_of(input->values<float>());
    for (const float value : data) CHECK(value == stored_in_8_bits(value));
    std::vector<float> back(18);
    units->to_input(data, back);
    for (std::size_t i = 0; i < back.size(); ++i)
      CHECK(back[i] == doctest::Approx(input->values<float>()[i]).epsilon(1e-6));
    const auto gradient = units->data_gradient(std::vector<float>(18, 1.0f));
    CHECK(gradient[0] == doctest::Approx(5.0f));
    CHECK(gradient[layout == Layout::nchw ? 6 : 1] == doctest::Approx(1.0f / 0.3f));
  }
}

}  // namespace driftscope::test
