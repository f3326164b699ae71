// One cell of a study: its name, and its result as a line of JSON in the study's store, both ways.
// Clients: study_results, the runner.
//
// Cells are named "answers lenet5/float32/original @0+64" (samples 0 to 63), "attack lenet5/float32/fgsm
// @0+8", "adversarials lenet5/fgsm @0+8", "times lenet5/float32 #1" and "layers VI #7" (sample 7).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/study/study_file.hpp"

namespace driftscope {

struct AnswersPart {
  std::int64_t begin = 0;
  std::vector<std::int64_t> labels;
  std::vector<std::int64_t> predictions;
  /// The first output of each sample, one after the other; empty: too large to be kept.
  std::vector<float> outputs = {};
};

/// Of one session.
struct SessionTimes {
  double median_s = 0.0;  ///< of an inference, once steady, nothing being recorded
  double first_s = 0.0;
  double load_s = 0.0;  ///< until the first inference could begin, a browser that was not open included
  std::int64_t memory_bytes = -1;  ///< peak; −1: not known
  std::string memory_kind = {};
};

struct AttackPart {
  std::int64_t begin = 0;
  std::int64_t samples = 0;    ///< looked at
  std::int64_t attacked = 0;   ///< of them: answered rightly before
  std::int64_t successes = 0;  ///< of these: answered wrongly afterwards
  std::int64_t queries = 0;
};

/// Adversarials that were made once, for all variants and targets.
struct AdversarialsPart {
  std::int64_t begin = 0;
  std::int64_t samples = 0;             ///< looked at
  std::vector<std::int64_t> originals;  ///< of them: answered rightly before; places in the data set
  std::vector<std::int64_t> labels;     ///< of these
  std::int64_t successes = 0;           ///< of these: fooled where they were made
  std::int64_t queries = 0;
  double seconds = 0.0;     ///< making them took
  std::string file = {};    ///< in the study's folder; empty: none of the samples was attacked
  std::string sha256 = {};  ///< of the file
};

/// Some values of a sample, and where a target first differs from the study's first one.
struct LayerValues {
  std::int64_t sample = 0;
  /// By published_values and column; no number: the target does not give it, or the column is only a title.
  std::vector<std::vector<std::optional<double>>> values = {};
  std::int64_t compared = 0;      ///< values of inner layers that both targets gave
  std::int64_t different = 0;     ///< of them: not the same bits
  std::string first = {};         ///< of these the first, as "conv1 (Conv)"; empty: none
  double first_difference = 0.0;  ///< there: largest |Δ| ÷ largest |value|
  std::string largest = {};       ///< where this is largest
  double largest_difference = 0.0;
};

[[nodiscard]] std::string answers_name(const StudySubject& subject, const documents::StudyData& data);
[[nodiscard]] std::string attack_name(const StudySubject& subject, const documents::StudyAttack& attack);
[[nodiscard]] std::string adversarials_name(const std::string& model, const documents::StudyAttack& attack);
[[nodiscard]] std::string times_name(const StudySubject& subject);
[[nodiscard]] std::string layers_name(const documents::PublishedLayers& layers);

/// Of samples begin to begin + samples − 1, behind one of the first three names.
[[nodiscard]] std::string samples_cell(const std::string& name, std::int64_t begin, std::int64_t samples);
/// A repetition of times, a sample of layers.
[[nodiscard]] std::string numbered_cell(const std::string& name, std::int64_t number);

/// Both parts of such a name; the number is −1 where it has none.
struct CellName {
  std::string_view name;
  std::int64_t number = -1;
};
[[nodiscard]] CellName split_cell(std::string_view item);

[[nodiscard]] nlohmann::json encode_result(const AnswersPart& part);
[[nodiscard]] nlohmann::json encode_result(const AttackPart& part);
[[nodiscard]] nlohmann::json encode_result(const AdversarialsPart& part);
[[nodiscard]] nlohmann::json encode_result(const SessionTimes& times);
[[nodiscard]] nlohmann::json encode_result(const LayerValues& layers);
[[nodiscard]] nlohmann::json encode_failure(const Error& error);

/// Why a cell has no result, where it has none. Errors: as below.
[[nodiscard]] Result<std::optional<std::string>> failure_in(const nlohmann::ordered_json& value);
/// Errors: fields that are missing, of other types or that contradict each other.
[[nodiscard]] Status read_result(const nlohmann::ordered_json& value, AnswersPart& part);
[[nodiscard]] Status read_result(const nlohmann::ordered_json& value, AttackPart& part);
[[nodiscard]] Status read_result(const nlohmann::ordered_json& value, AdversarialsPart& part);
[[nodiscard]] Status read_result(const nlohmann::ordered_json& value, SessionTimes& times);
[[nodiscard]] Status read_result(const nlohmann::ordered_json& value, LayerValues& layers);

}  // namespace driftscope
