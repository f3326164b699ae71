// Studies, attacks, generations and training curves from the bytes of chosen files: what belongs together
// is found by the names of files and folders, as they were chosen. Client: web/gui; the window reads
// folders by itself. It opens no file.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/curves/curve_set.hpp"
#include "core/report/attack_results.hpp"
#include "core/study/study_view.hpp"
#include "generated/documents/generate.hpp"

namespace driftscope::gui {

struct ChosenFile {
  std::string path;  ///< "fgsm/attack.json"; of a file without a folder its name
  std::span<const std::byte> bytes;
};

struct OpenedResults {
  std::shared_ptr<const StudyView> study;  ///< null: none was chosen; of several the first by name
  std::vector<AttackResults> attacks;      ///< in the order of their paths
  std::shared_ptr<const CurveSet> curves;  ///< of all files of curves
  std::shared_ptr<const documents::Generate> generation;  ///< of several the last by name
  std::vector<std::string> errors;                        ///< of what cannot be used: file, expected, found
  [[nodiscard]] bool any() const { return study || !attacks.empty() || curves || generation; }
};

/// A study is a folder with study.json, cells.jsonl and sizes.json; an attack is a JSON of `attack`, with
/// the arrays beside it, a generation a JSON of `generate`; everything else is curves. What a study or an
/// attack has taken is nothing else.
[[nodiscard]] OpenedResults open_results(std::vector<ChosenFile> files);

}  // namespace driftscope::gui
