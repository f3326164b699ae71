#include "core/study/study_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/attack/attack.hpp"
#include "core/base/text.hpp"
#include "core/runtime/target.hpp"
#include "core/study/claim.hpp"
#include "core/study/measure.hpp"
#include "core/study/study_file.hpp"

namespace driftscope {
namespace {

constexpr std::int64_t most_repetitions = 1000;

class Checks {
 public:
  explicit Checks(const documents::Study& study) : study_(study) {}

  /// The place of the first error, and the error.
  Status run() {
    DRIFTSCOPE_CHECK(models());
    DRIFTSCOPE_CHECK(targets());
    if (study_.samples && *study_.samples < 1)
      return bad_input(fmt::format("samples: expected at least 1, got {}", *study_.samples));
    if (study_.repetitions && (*study_.repetitions < 1 || *study_.repetitions > most_repetitions))
      return bad_input(
          fmt::format("repetitions: expected 1 to {}, got {}", most_repetitions, *study_.repetitions));
    for (std::size_t i = 0; i < study_.attacks.size(); ++i) DRIFTSCOPE_CHECK(attack(i));
    for (std::size_t i = 0; i < study_.tables.size(); ++i) DRIFTSCOPE_CHECK(table(i));
    for (std::size_t i = 0; i < study_.layers.size(); ++i) DRIFTSCOPE_CHECK(layers(i));
    for (std::size_t i = 0; i < study_.claims.size(); ++i) DRIFTSCOPE_CHECK(claim(i));
    return {};
  }

 private:
  Status models() {
    if (study_.models.empty()) return bad_input("models: the list is empty; name at least one model");
    std::set<std::string> names;
    for (std::size_t i = 0; i < study_.models.size(); ++i) {
      const documents::StudyModel& model = study_.models[i];
      const std::string at = fmt::format("models[{}]", i);
      DRIFTSCOPE_CHECK(name(at + ".name", model.name, names));
      if (model.data.empty())
        return bad_input(at + ".data: the list is empty; a model needs a data set with labels");
      DRIFTSCOPE_CHECK(data(at, model));
      std::set<std::string> variants = {std::string(StudySubject::base_variant)};
      for (std::size_t k = 0; k < model.variants.size(); ++k)
        DRIFTSCOPE_CHECK(name(fmt::format("{}.variants[{}].name", at, k), model.variants[k].name, variants));
    }
    return {};
  }

  static Status data(const std::string& model_at, const documents::StudyModel& model) {
    std::set<std::string> names;
    for (std::size_t k = 0; k < model.data.size(); ++k) {
      const documents::StudyData& data = model.data[k];
      const std::string at = fmt::format("{}.data[{}]", model_at, k);
      DRIFTSCOPE_CHECK(name(at + ".name", data.name, names));
      if (data.source.empty() != data.generated.has_value())
        return bad_input(fmt::format("{}: expected either source or generated, got {}", at,
                                     data.generated ? "both" : "none"));
      if (data.generated) DRIFTSCOPE_CHECK(generated(at + ".generated", model, *data.generated));
    }
    if (model.data.front().generated)
      return bad_input(model_at +
                       ".data[0].generated: the first data set is the one that is attacked and "
                       "measured; name a source");
    return {};
  }

  static Status generated(const std::string& at, const documents::StudyModel& model,
                          const documents::StudyGenerated& how) {
    constexpr std::int64_t most = 1'000'000;
    if (how.method != "deephunter" && how.method != "tensorfuzz")
      return bad_input(
          fmt::format("{}.method: expected deephunter or tensorfuzz, got {}", at, in_quotes(how.method)));
    const bool known = how.method == "tensorfuzz" ? how.criterion == "neighbour"
                                                  : how.criterion == "kmnc" || how.criterion == "nbc";
    if (!how.criterion.empty() && !known)
      return bad_input(fmt::format("{}.criterion: {} does not go with {}; expected {}", at,
                                   in_quotes(how.criterion), how.method,
                                   how.method == "tensorfuzz" ? "neighbour" : "kmnc or nbc"));
    if (how.count < 1 || how.count > most)
      return bad_input(fmt::format("{}.count: expected 1 to {}, got {}", at, most, how.count));
    if (how.seed.value_or(0) < 0)
      return bad_input(fmt::format("{}.seed: expected a number that is not below 0, got {}", at, *how.seed));
    if (how.engine != "" && how.engine != "strict" && how.engine != "fast")
      return bad_input(fmt::format("{}.engine: expected strict or fast, got {}", at, in_quotes(how.engine)));
    if (how.of.empty()) return {};
    const auto original = std::ranges::find(model.data, how.of, &documents::StudyData::name);
    if (original == model.data.end() || original->generated)
      return bad_input(
          fmt::format("{}.of: {} is no data set of {} with a source", at, in_quotes(how.of), model.name));
    return {};
  }

  Status targets() {
    if (study_.targets.empty())
      return bad_input("targets: the list is empty; the first is what others are compared with");
    std::set<std::string> names;
    for (std::size_t i = 0; i < study_.targets.size(); ++i) {
      const std::string at = fmt::format("targets[{}]", i);
      const auto target = parse_target(study_.targets[i]);
      if (!target.ok()) return bad_input(fmt::format("{}: {}", at, target.error().message));
      if (!names.insert(target->text()).second)
        return bad_input(fmt::format("{}: {} occurs twice", at, in_quotes(target->text())));
    }
    return {};
  }

  Status attack(std::size_t i) {
    const documents::StudyAttack& attack = study_.attacks[i];
    const std::string at = fmt::format("attacks[{}]", i);
    DRIFTSCOPE_CHECK(name(at + ".name", attack.name, attacks_));
    const auto method = find_attack_method(attack.method);
    if (!method.ok()) return bad_input(fmt::format("{}.method: {}", at, method.error().message));
    if ((*method)->needs_epsilon &&
        !(attack.epsilon && *attack.epsilon > 0.0 && std::isfinite(*attack.epsilon)))
      return bad_input(fmt::format("{}.epsilon: {} needs a number above 0", at, attack.method));
    if (attack.steps.value_or(1) < 1 || attack.samples.value_or(1) < 1)
      return bad_input(fmt::format("{}: steps and samples are at least 1", at));
    for (std::size_t k = 0; k < attack.models.size(); ++k)
      DRIFTSCOPE_CHECK(model(fmt::format("{}.models[{}]", at, k), attack.models[k]));
    if (attack.seed.value_or(0) < 0)
      return bad_input(fmt::format("{}.seed: expected a number that is not below 0", at));
    if (!attack.transfer && !(attack.on.empty() && attack.store.empty()))
      return bad_input(at +
                       ": on and store are of attacks with transfer: true; the others attack each target");
    if (attack.transfer && !attack.hosts.empty())
      return bad_input(at +
                       ".hosts: adversarials with transfer: true are given to every target; name targets");
    if (!attack.on.empty() && std::ranges::find(study_.targets, attack.on) == study_.targets.end())
      return bad_input(fmt::format("{}.on: {} is no target of the study: {}", at, in_quotes(attack.on),
                                   fmt::join(study_.targets, ", ")));
    if (!attack.store.empty() && attack.store != "float" && attack.store != "8bit")
      return bad_input(fmt::format("{}.store: expected float or 8bit, got {}", at, in_quotes(attack.store)));
    if (attack.store == "8bit" && (*method)->replaces_words)
      return bad_input(
          fmt::format("{}.store: {} changes words, which 8 bits cannot keep; use float", at, attack.method));
    for (const documents::StudyModel& one : study_.models)
      if (attack.transfer && attacks_model(attack, one.name) &&
          std::ranges::find(one.data, attack.name, &documents::StudyData::name) != one.data.end())
        return bad_input(
            fmt::format("{}.name: {} is also a data set of {}; adversarials are a data set under "
                        "the attack's name",
                        at, in_quotes(attack.name), one.name));
    return {};
  }

  Status table(std::size_t i) {
    const documents::PublishedTable& table = study_.tables[i];
    const std::string at = fmt::format("tables[{}]", i);
    if (table.measures.size() != table.columns.size())
      return bad_input(fmt::format("{}.measures: expected one for each of the {} columns, got {}", at,
                                   table.columns.size(), table.measures.size()));
    for (std::size_t k = 0; k < table.measures.size(); ++k)
      if (const auto measure = parse_measure(table.measures[k]); !measure.ok())
        return bad_input(fmt::format("{}.measures[{}]: {}", at, k, measure.error().message));
    for (std::size_t k = 0; k < table.rows.size(); ++k) {
      const documents::PublishedRow& row = table.rows[k];
      if (row.cells.size() != table.columns.size())
        return bad_input(fmt::format("{}.rows[{}].cells: expected one for each of the {} columns, got {}", at,
                                     k, table.columns.size(), row.cells.size()));
      if (!row.of.empty()) DRIFTSCOPE_CHECK(model(fmt::format("{}.rows[{}].of", at, k), row.of));
      DRIFTSCOPE_CHECK(slip(fmt::format("{}.rows[{}]", at, k), row));
    }
    return {};
  }

  static Status slip(const std::string& at, const documents::PublishedRow& row) {
    if (row.slip.empty() != row.corrected.empty())
      return bad_input(at + ": slip says what is wrong, corrected what is right; give both or none");
    if (!row.corrected.empty() && row.corrected.size() != row.cells.size())
      return bad_input(fmt::format("{}.corrected: expected one for each of the {} cells, got {}", at,
                                   row.cells.size(), row.corrected.size()));
    return {};
  }

  Status layers(std::size_t i) {
    const documents::PublishedLayers& layers = study_.layers[i];
    const std::string at = fmt::format("layers[{}]", i);
    DRIFTSCOPE_CHECK(name(at + ".name", layers.name, layers_));
    DRIFTSCOPE_CHECK(model(at + ".model", layers.model));
    if (layers.sample.value_or(0) < 0)
      return bad_input(at + ".sample: expected a number that is not below 0");
    if (layers.layers.empty()) return bad_input(at + ".layers: the list is empty; name at least one");
    for (std::size_t k = 0; k < layers.layers.size(); ++k) {
      const documents::PublishedValues& values = layers.layers[k];
      const std::string here = fmt::format("{}.layers[{}]", at, k);
      if (values.value.empty())
        return bad_input(here + ".value: expected first:OPERATOR, last:OPERATOR or a name");
      if (values.columns.empty()) return bad_input(here + ".columns: the list is empty; name at least one");
      for (std::size_t r = 0; r < values.rows.size(); ++r)
        if (values.rows[r].cells.size() != values.columns.size())
          return bad_input(fmt::format("{}.rows[{}].cells: expected one for each of the {} columns, got {}",
                                       here, r, values.columns.size(), values.rows[r].cells.size()));
    }
    return {};
  }

  Status claim(std::size_t i) {
    const documents::StudyClaim& claim = study_.claims[i];
    const std::string at = fmt::format("claims[{}]", i);
    if (claim.factor && !(*claim.factor > 0.0 && std::isfinite(*claim.factor)))
      return bad_input(fmt::format("{}.factor: expected a number above 0, got {}", at, *claim.factor));
    if (claim_table().find(claim.kind) == nullptr)
      return bad_input(fmt::format("{}.kind: {} is unknown; expected one of {}", at, in_quotes(claim.kind),
                                   claim_table().names()));
    for (std::size_t k = 0; k < claim.models.size(); ++k)
      DRIFTSCOPE_CHECK(model(fmt::format("{}.models[{}]", at, k), claim.models[k]));
    if (std::ranges::find(study_.targets, claim.left) == study_.targets.end())
      return bad_input(fmt::format("{}.left: {} is no target of the study: {}", at, in_quotes(claim.left),
                                   fmt::join(study_.targets, ", ")));
    return attack_of(at, claim);
  }

  /// What a claim says of an attack and a variant.
  Status attack_of(const std::string& at, const documents::StudyClaim& claim) {
    const bool needed = claim.kind == "fooled_less";
    if (!needed && claim.attack.empty() && claim.variant.empty()) return {};
    if (!needed) return bad_input(fmt::format("{}: attack and variant are of fooled_less", at));
    const auto attack = std::ranges::find(study_.attacks, claim.attack, &documents::StudyAttack::name);
    if (attack == study_.attacks.end() || !attack->transfer)
      return bad_input(fmt::format("{}.attack: {} is no attack of the study with transfer: true", at,
                                   in_quotes(claim.attack)));
    for (const std::string& wanted : claim.models) {
      const auto model = std::ranges::find(study_.models, wanted, &documents::StudyModel::name);
      if (std::ranges::find(model->variants, claim.variant, &documents::StudyVariant::name) ==
          model->variants.end())
        return bad_input(
            fmt::format("{}.variant: {} has no variant {}", at, wanted, in_quotes(claim.variant)));
    }
    return {};
  }

  Status model(const std::string& at, const std::string& wanted) {
    std::vector<std::string> names;
    for (const documents::StudyModel& one : study_.models) names.push_back(one.name);
    if (std::ranges::find(names, wanted) != names.end()) return {};
    return bad_input(
        fmt::format("{}: {} is no model of the study: {}", at, in_quotes(wanted), fmt::join(names, ", ")));
  }

  static Status name(const std::string& at, const std::string& name, std::set<std::string>& names) {
    if (name.empty() || name.find_first_of(" /:@#") != std::string::npos)
      return bad_input(fmt::format("{}: expected a name without spaces, '/', ':', '@' and '#', got {}", at,
                                   in_quotes(name)));
    if (!names.insert(name).second) return bad_input(fmt::format("{}: {} occurs twice", at, in_quotes(name)));
    return {};
  }

  const documents::Study& study_;
  std::set<std::string> attacks_;
  std::set<std::string> layers_;
};

}  // namespace

Status check_study(const documents::Study& study) { return Checks(study).run(); }

}  // namespace driftscope
