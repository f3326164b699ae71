// Summary: the sample, the output of each target, and how often they agree over a data set.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/format.hpp"
#include "core/draw/sample_picture.hpp"
#include "core/gui/imgui/widgets.hpp"
#include "core/report/run_time_text.hpp"
#include "core/results/output.hpp"

namespace driftscope::gui {
namespace {

constexpr std::size_t top_count = 5;

/// The first sample of an image input, as pixels; nothing for other inputs.
Image sample_of(const RecordedTensors& run) {
  std::vector<std::string> made;
  for (const NodeRecord& node : run.about().nodes)
    made.insert(made.end(), node.outputs.begin(), node.outputs.end());
  std::sort(made.begin(), made.end());
  for (std::size_t i = 0; i < run.size(); ++i) {
    if (!is_picture(run[i].dtype, run[i].shape) || std::binary_search(made.begin(), made.end(), run[i].name))
      continue;
    const auto tensor = run.load(i);
    if (tensor.ok() && tensor->elements() > 0) return sample_picture(*tensor);
  }
  return {};
}

/// The output of one target.
struct Answer {
  std::vector<ClassScore> top;
  bool distribution = false;
  std::string shape;  ///< of an output that is not a row of classes
};

class SummaryView final : public View {
 public:
  int place() const override { return 80; }

  void draw(Screen& screen) override {
    host_ = &screen.host;
    update(screen);
    if (!ImGui::BeginChild("summary")) return ImGui::EndChild();
    draw_sample(screen);
    draw_answers(screen);
    draw_dataset(screen);
    draw_environment(screen);
    ImGui::EndChild();
  }

  Table table(const Screen& screen) const override {
    Table table = {{"target", "rank", "class", "score", "correct", "samples"}};
    for (std::size_t t = 0; t < answers_.size(); ++t) {
      const TargetColumn& column = screen.snapshot->targets[t];
      for (std::size_t i = 0; i < answers_[t].top.size(); ++i)
        table.push_back(
            {column.target, std::to_string(i + 1), answers_[t].top[i].name,
             fmt::format("{}", answers_[t].top[i].score),
             column.dataset && column.dataset->correct >= 0 ? std::to_string(column.dataset->correct) : "",
             column.dataset ? std::to_string(column.dataset->samples) : ""});
    }
    return table;
  }

  SavedPicture picture(const Screen&) const override { return {{}, sample_}; }

  ~SummaryView() override {
    if (texture_ != 0 && host_ != nullptr) host_->release_texture(texture_);
  }

 private:
  void update(Screen& screen) {
    if (number_ == screen.snapshot_number) return;
    number_ = screen.snapshot_number;
    answers_.clear();
    sample_ = {};
    for (const TargetColumn& column : screen.snapshot->targets) {
      if (column.tensors && sample_.pixels.empty()) sample_ = sample_of(*column.tensors);
      answers_.push_back(answer_of(screen, column));
    }
    if (texture_ != 0) screen.host.release_texture(texture_);
    texture_ = screen.host.make_texture(sample_);
  }

  static Answer answer_of(const Screen& screen, const TargetColumn& column) {
    Answer answer;
    if (!column.tensors) return answer;
    const Snapshot& snapshot = *screen.snapshot;
    const auto target = static_cast<std::size_t>(&column - snapshot.targets.data());
    for (std::size_t i = snapshot.layers.size(); i-- > 0;) {
      const std::size_t place = snapshot.tensor_place(i, target);
      if (place == no_place) continue;
      const auto tensor = column.tensors->load(place);
      if (!tensor.ok()) break;
      answer.shape = shape_text(tensor->shape());
      if (tensor->rank() <= 2) answer.top = top_classes(*tensor, snapshot.class_names, top_count);
      answer.distribution = is_distribution(*tensor);
      break;
    }
    return answer;
  }

  void draw_sample(Screen& screen) {
    const Snapshot& snapshot = *screen.snapshot;
    const float em = ImGui::GetFontSize();
    if (texture_ != 0 && sample_.width > 0) {
      const float side = 9.0f * em;
      const float width = side * static_cast<float>(sample_.width) /
                          static_cast<float>(std::max(sample_.width, sample_.height));
      const float height = side * static_cast<float>(sample_.height) /
                           static_cast<float>(std::max(sample_.width, sample_.height));
      ImGui::Image(reinterpret_cast<ImTextureID>(texture_), {width, height});
      ImGui::SameLine(0.0f, em);
    }
    ImGui::BeginGroup();
    ImGui::PushTextWrapPos(0.0f);
    ImGui::TextUnformatted(snapshot.title.c_str());
    ImGui::TextUnformatted(snapshot.headline.c_str());
    const auto fact = [&](const char* name, const std::string& text) {
      if (!text.empty()) ImGui::TextColored(im4(screen.theme.dim), "%s  %s", name, text.c_str());
    };
    fact("input", without_folders(snapshot.input_text));
    if (!snapshot.input_text.empty()) hint(snapshot.input_text.c_str());
    fact("labelled", snapshot.input_label);
    fact("model", snapshot.model_sha256.substr(0, 16));
    for (const std::string& note : snapshot.notes)
      ImGui::TextColored(im4(screen.theme.verdict(Verdict::suspect)), "%s", note.c_str());
    ImGui::PopTextWrapPos();
    ImGui::EndGroup();
    ImGui::Dummy({0.0f, em * 0.4f});
  }

  void draw_answers(Screen& screen) {
    const auto& targets = screen.snapshot->targets;
    ImGui::SeparatorText("What each target answers");
    const float em = ImGui::GetFontSize();
    const int across =
        std::max(1, std::min(static_cast<int>(targets.size()),
                             static_cast<int>(ImGui::GetContentRegionAvail().x / (15.0f * em))));
    if (!ImGui::BeginTable("answers", across, ImGuiTableFlags_SizingStretchSame)) return;
    for (std::size_t t = 0; t < targets.size(); ++t) {
      ImGui::TableNextColumn();
      target_label(screen, t);
      ImGui::SameLine();
      verdict_label(screen, targets[t].verdict, false);
      if (!targets[t].error.empty()) {
        ImGui::PushTextWrapPos(0.0f);
        ImGui::TextColored(im4(screen.theme.verdict(Verdict::fault)), "%s", targets[t].error.c_str());
        ImGui::PopTextWrapPos();
        continue;
      }
      if (answers_[t].top.empty()) {
        const std::string text =
            answers_[t].shape.empty() ? "its output is not available" : "output " + answers_[t].shape;
        ImGui::TextColored(im4(screen.theme.dim), "%s", text.c_str());
        continue;
      }
      for (const ClassScore& one : answers_[t].top) draw_class(screen, answers_[t], one);
      ImGui::Dummy({0.0f, em * 0.5f});
    }
    ImGui::EndTable();
  }

  static void draw_class(Screen& screen, const Answer& answer, const ClassScore& one) {
    const float em = ImGui::GetFontSize();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = std::max(2.0f * em, ImGui::GetContentRegionAvail().x - em);
    auto painter = screen.painter();
    const float names = std::min(5.0f * em, width * 0.35f);
    const float numbers = painter.text_width("100.000 %", true) + 6.0f;
    const float bar_width = std::max(0.0f, width - names - numbers - 8.0f);
    const double top = answer.distribution ? 1.0 : std::max(1e-30, std::abs(answer.top.front().score));
    const auto share = static_cast<float>(std::clamp(one.score / top, 0.0, 1.0));
    const float y = at.y + em * 0.62f;
    const auto letters = static_cast<std::size_t>(std::max(3.0f, names / (em * 0.55f)));
    painter.text({at.x, y}, elide(one.name, letters), screen.theme.ink, Anchor::start, false);
    painter.fill({at.x + names, y - em * 0.22f, at.x + names + bar_width, y + em * 0.22f},
                 screen.theme.raised, 2.0f);
    painter.fill(
        {at.x + names, y - em * 0.22f, at.x + names + std::max(1.0f, share * bar_width), y + em * 0.22f},
        screen.theme.accent, 2.0f);
    painter.text({at.x + width, y},
                 answer.distribution ? fmt::format("{:.3f} %", 100.0 * one.score) : format_number(one.score),
                 screen.theme.ink, Anchor::end, true);
    ImGui::Dummy({width, em * 1.25f});
  }

  void draw_dataset(Screen& screen) {
    const auto& targets = screen.snapshot->targets;
    if (std::none_of(targets.begin(), targets.end(),
                     [](const TargetColumn& t) { return t.dataset.has_value(); }))
      return;
    ImGui::SeparatorText(screen.snapshot->dataset_text.empty() ? "The data set"
                                                               : screen.snapshot->dataset_text.c_str());
    if (!ImGui::BeginTable("dataset", 4, ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_BordersInnerH))
      return;
    for (const char* name : {"target", "correct", "accuracy", "agrees with the left"})
      ImGui::TableSetupColumn(name, ImGuiTableColumnFlags_WidthFixed, ImGui::GetFontSize() * 10.0f);
    headers_row({1, 2, 3});
    for (std::size_t t = 0; t < targets.size(); ++t) {
      if (!targets[t].dataset) continue;
      const DatasetResult& result = *targets[t].dataset;
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      target_label(screen, t);
      ImGui::TableNextColumn();
      const bool labelled = result.correct >= 0 && result.samples > 0;
      right_text(labelled ? fmt::format("{} of {}", result.correct, result.samples) : "–", screen.theme.ink);
      ImGui::TableNextColumn();
      right_text(labelled ? fmt::format("{:.2f} %", 100.0 * static_cast<double>(result.correct) /
                                                        static_cast<double>(result.samples))
                          : "–",
                 screen.theme.ink);
      ImGui::TableNextColumn();
      const std::int64_t same = targets[0].dataset ? agreement(*targets[0].dataset, result) : -1;
      right_text(same >= 0 ? fmt::format("{} of {}", same, result.samples) : "–", screen.theme.ink);
    }
    ImGui::EndTable();
  }

  void draw_environment(Screen& screen) {
    ImGui::SeparatorText("What ran");
    if (!ImGui::BeginTable("ran", 4, ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_BordersInnerH))
      return;
    ImGui::TableSetupColumn("target", 0, 2.0f);
    ImGui::TableSetupColumn("with", 0, 4.0f);
    ImGui::TableSetupColumn("time", 0, 1.0f);
    ImGui::TableSetupColumn("peak memory", 0, 1.3f);
    headers_row({2, 3});
    for (std::size_t t = 0; t < screen.snapshot->targets.size(); ++t) {
      const TargetColumn& column = screen.snapshot->targets[t];
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(column.target.c_str());
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(column.ran.empty() ? "–" : column.ran.c_str());
      ImGui::TableNextColumn();
      right_text(short_run_time_text(column.time), screen.theme.ink);
      hint((run_time_text(column.time) + "\n" + layer_times_text(column.time)).c_str());
      ImGui::TableNextColumn();
      right_text(format_bytes(column.peak.bytes), screen.theme.ink);
    }
    ImGui::EndTable();
    draw_notes(screen);
  }

  static void draw_notes(const Screen& screen) {
    const auto& targets = screen.snapshot->targets;
    if (std::ranges::all_of(targets, [](const TargetColumn& column) { return column.notes.empty(); })) return;
    ImGui::SeparatorText("What the checks found");
    ImGui::PushTextWrapPos(0.0f);
    for (const TargetColumn& column : targets)
      for (const std::string& note : column.notes)
        ImGui::TextUnformatted((column.target + ": " + note).c_str());
    ImGui::PopTextWrapPos();
  }

  Host* host_ = nullptr;
  std::uint64_t number_ = 0;
  Image sample_;
  std::uintptr_t texture_ = 0;
  std::vector<Answer> answers_;
};

}  // namespace

std::unique_ptr<View> make_summary_view() { return std::make_unique<SummaryView>(); }

}  // namespace driftscope::gui
