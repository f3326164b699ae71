#include "native/cli/study_adversarials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/attack/data_units.hpp"
#include "core/base/sha256.hpp"
#include "core/dataset/npy.hpp"
#include "core/inputs/input_source.hpp"
#include "native/host/attack_run.hpp"
#include "native/host/sample_files.hpp"
#include "native/os/files.hpp"
#include "native/os/folders.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

/// Attacks the samples from `begin` on; each has random numbers of its own, so that parts do not matter.
Result<AttackReport> attack_part(const StudyFiles::Subject& subject, const documents::StudyAttack& attack,
                                 const Target& target, std::int64_t begin, std::int64_t samples,
                                 const RunnerOptions& options, const TargetProgress& progress) {
  const GivenDataset& all = subject.data.front();
  std::vector<std::int64_t> chosen(static_cast<std::size_t>(samples));
  for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = begin + static_cast<std::int64_t>(i);
  GivenDataset some{.stacked = {}, .samples = samples, .labels = {}, .class_names = {}, .text = all.text};
  DRIFTSCOPE_TRY(some.stacked, chosen_items(all.stacked, chosen));
  some.labels.assign(all.labels.begin() + begin, all.labels.begin() + begin + samples);
  AttackPlan plan;
  plan.model = &subject.model;
  DRIFTSCOPE_TRY(plan.method, find_attack_method(attack.method));
  plan.dataset = &some;
  plan.targets = {target};
  plan.samples = samples;
  plan.epsilon = attack.epsilon.value_or(0.0);
  plan.steps = attack.steps.value_or(0);
  plan.seed = attack_seed(attack, begin);
  plan.separate = true;
  plan.in_8_bits = attack.store == "8bit";
  return run_attack(plan, options, progress);
}

/// Pictures of the model's description, or nothing: the data is the input.
std::optional<Preprocess> pictures_of(const ModelFile& model) {
  const auto described = input_site(model).samples();
  if (!described.ok()) return {};
  const auto* const how = std::get_if<Preprocess>(&described->how);
  return how == nullptr ? std::nullopt : std::optional(*how);
}

Result<Bytes> npy_of(const std::vector<std::vector<float>>& values, const Shape& shape, bool in_8_bits) {
  Shape all = shape;
  all.insert(all.begin(), std::ssize(values));
  DRIFTSCOPE_TRY(Tensor tensor, Tensor::make(in_8_bits ? DType::uint8 : DType::float32, all));
  std::size_t at = 0;
  for (const std::vector<float>& one : values)
    for (const float value : one) {
      if (in_8_bits)
        tensor.mutable_values<std::uint8_t>()[at++] =
            static_cast<std::uint8_t>(std::clamp(std::nearbyintf(value * 255.0f), 0.0f, 255.0f));
      else
        tensor.mutable_values<float>()[at++] = value;
    }
  return write_npy(tensor);
}

}  // namespace

std::uint64_t attack_seed(const documents::StudyAttack& attack, std::int64_t begin) {
  constexpr std::int64_t usual = 42;
  return static_cast<std::uint64_t>(attack.seed.value_or(usual)) + static_cast<std::uint64_t>(begin);
}

Result<AdversarialsPart> make_adversarials(const StudyFiles& files, const StudyFiles::Subject& subject,
                                           const documents::StudyAttack& attack, const Target& target,
                                           std::int64_t begin, std::int64_t samples,
                                           const RunnerOptions& options, const TargetProgress& progress) {
  const bool in_8_bits = attack.store == "8bit";
  if (in_8_bits && !pictures_of(subject.model))
    return unsupported(
        fmt::format("attack {}: 8 bits keep pictures, and nothing describes those of {}; use "
                    "store: float, or write a preprocess.json",
                    attack.name, subject.model.name));
  const auto start = std::chrono::steady_clock::now();
  DRIFTSCOPE_TRY(const AttackReport report,
                 attack_part(subject, attack, target, begin, samples, options, progress));
  AdversarialsPart part{.begin = begin, .samples = samples, .originals = {}, .labels = report.labels};
  for (const std::int64_t sample : report.samples) part.originals.push_back(begin + sample);
  std::vector<std::vector<float>> values;
  if (!report.samples.empty())
    for (const AttackOutcome& outcome : report.targets.front().outcomes) {
      part.successes += outcome.success ? 1 : 0;
      part.queries += outcome.queries;
      values.push_back(outcome.values);
    }
  part.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (values.empty()) return part;
  DRIFTSCOPE_TRY(const Bytes bytes, npy_of(values, report.shape, in_8_bits));
  DRIFTSCOPE_CHECK(keep_adversarials(files, subject.subject, attack, bytes, part));
  return part;
}

Status keep_adversarials(const StudyFiles& files, const StudySubject& subject,
                         const documents::StudyAttack& attack, std::span<const std::byte> bytes,
                         AdversarialsPart& part) {
  const fs::path folder = fs::path("adversarials") / fmt::format("{}-{}", subject.model, attack.name);
  DRIFTSCOPE_CHECK(make_folders(files.out / folder));
  part.file = (folder / fmt::format("{:06}.npy", part.begin)).generic_string();
  part.sha256 = sha256_hex(bytes);
  return write_file(files.out / part.file, bytes);
}

Result<AttackPart> attack_target(const StudyFiles::Subject& subject, const documents::StudyAttack& attack,
                                 const Target& target, std::int64_t begin, std::int64_t samples,
                                 const RunnerOptions& options, const TargetProgress& progress) {
  DRIFTSCOPE_TRY(const AttackReport report,
                 attack_part(subject, attack, target, begin, samples, options, progress));
  AttackPart part{.begin = begin, .samples = samples};
  for (const AttackOutcome& outcome : report.targets.front().outcomes) {
    ++part.attacked;
    part.successes += outcome.success ? 1 : 0;
    part.queries += outcome.queries;
  }
  return part;
}

Status KeptAdversarials::read(Kept& kept, const AdversarialsPart& part) const {
  if (part.file.empty()) return {};
  DRIFTSCOPE_TRY(const Bytes bytes, read_inside(files_.out, part.file));
  if (sha256_hex(bytes) != part.sha256)
    return bad_input(
        fmt::format("{} is not what was written; remove the lines of its adversarials from {}, and "
                    "the answers on them",
                    (files_.out / part.file).string(), study_store_name));
  DRIFTSCOPE_TRY(const Tensor tensor, read_npy(bytes));
  const auto count = part.originals.size();
  const bool in_8_bits = tensor.dtype() == DType::uint8;
  if ((!in_8_bits && tensor.dtype() != DType::float32) || tensor.shape().empty() ||
      tensor.shape()[0] != static_cast<std::int64_t>(count))
    return bad_input(fmt::format("{}: expected {} adversarials", part.file, count));
  const auto size = static_cast<std::size_t>(tensor.elements()) / count;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<float>& values = kept.values.emplace_back();
    for (std::size_t at = i * size; at < (i + 1) * size; ++at)
      values.push_back(in_8_bits ? static_cast<float>(tensor.values<std::uint8_t>()[at]) / 255.0f
                                 : tensor.values<float>()[at]);
  }
  return {};
}

Result<NamedInputs> KeptAdversarials::inputs(const AdversarialsKey& key, const Adversarials& made,
                                             const StudyFiles::Subject& subject, std::int64_t begin,
                                             std::int64_t samples) {
  const std::lock_guard lock(mutex_);
  Kept& kept = kept_[key];
  for (; kept.files < made.parts.size(); ++kept.files) DRIFTSCOPE_CHECK(read(kept, made.parts[kept.files]));
  const NamedTensor& like = subject.data.front().stacked.front();
  Shape shape = like.tensor.shape();
  shape[0] = samples;
  DRIFTSCOPE_TRY(Tensor tensor, Tensor::make(like.tensor.dtype(), shape));
  const auto size = static_cast<std::size_t>(tensor.elements() / samples);
  const auto how = pictures_of(subject.model);
  DataUnits units;  // the data is the input, but for pictures
  if (how && like.tensor.dtype() == DType::float32) {
    DRIFTSCOPE_TRY(units, DataUnits::pictures(*how));
  }
  for (std::int64_t i = 0; i < samples; ++i) {
    const std::vector<float>& values = kept.values.at(static_cast<std::size_t>(begin + i));
    const std::size_t at = static_cast<std::size_t>(i) * size;
    if (values.size() != size)
      return bad_input(fmt::format("{} takes samples of {} numbers, the adversarials have {}",
                                   subject.subject.name(), size, values.size()));
    if (tensor.dtype() == DType::int64)
      for (std::size_t k = 0; k < size; ++k)
        tensor.mutable_values<std::int64_t>()[at + k] = static_cast<std::int64_t>(values[k]);
    else
      units.to_input(values, tensor.mutable_values<float>().subspan(at, size));
  }
  return NamedInputs{{like.name, std::move(tensor)}};
}

}  // namespace driftscope
