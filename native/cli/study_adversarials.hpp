// Adversarials of a study: made once of a model, kept in the study's folder, and read again as inputs of
// every variant. Client: study_cells.
#pragma once

#include <map>
#include <mutex>
#include <span>

#include "native/cli/study_files.hpp"
#include "native/host/target_runner.hpp"

namespace driftscope {

/// Of the random numbers of the sample at `begin`; each sample has its own.
[[nodiscard]] std::uint64_t attack_seed(const documents::StudyAttack& attack, std::int64_t begin);

/// Of the samples from `begin` on: those that the target answers rightly are attacked, and kept as 8-bit
/// pictures or floats in adversarials/ of the study's folder. Errors: those of run_attack, files that
/// cannot be written.
[[nodiscard]] Result<AdversarialsPart> make_adversarials(const StudyFiles& files,
                                                         const StudyFiles::Subject& subject,
                                                         const documents::StudyAttack& attack,
                                                         const Target& target, std::int64_t begin,
                                                         std::int64_t samples, const RunnerOptions& options,
                                                         const TargetProgress& progress);

/// Keeps their file in the study's folder, and its name and hash in the part.
[[nodiscard]] Status keep_adversarials(const StudyFiles& files, const StudySubject& subject,
                                       const documents::StudyAttack& attack, std::span<const std::byte> bytes,
                                       AdversarialsPart& part);

/// The same on one target by itself, of which nothing is kept.
[[nodiscard]] Result<AttackPart> attack_target(const StudyFiles::Subject& subject,
                                               const documents::StudyAttack& attack, const Target& target,
                                               std::int64_t begin, std::int64_t samples,
                                               const RunnerOptions& options, const TargetProgress& progress);

/// Those that are kept, each file read once. For several threads.
class KeptAdversarials {
 public:
  explicit KeptAdversarials(const StudyFiles& files) : files_(files) {}

  /// The adversarials from `begin` on as inputs of the subject, which may be a variant, with a leading axis.
  /// Errors: files that are missing or not what was written, a variant with an input of another size.
  [[nodiscard]] Result<NamedInputs> inputs(const AdversarialsKey& key, const Adversarials& made,
                                           const StudyFiles::Subject& subject, std::int64_t begin,
                                           std::int64_t samples);

 private:
  struct Kept {
    std::size_t files = 0;
    std::vector<std::vector<float>> values;  ///< in the data's units
  };
  [[nodiscard]] Status read(Kept& kept, const AdversarialsPart& part) const;

  const StudyFiles& files_;
  std::mutex mutex_;
  std::map<AdversarialsKey, Kept> kept_;
};

}  // namespace driftscope
