// Graph: the network drawn, coloured by verdict or by cost.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/format.hpp"
#include "core/draw/svg_painter.hpp"
#include "core/gui/graph_picture.hpp"
#include "core/gui/imgui/widgets.hpp"

namespace driftscope::gui {
namespace {

class GraphView final : public View {
 public:
  int place() const override { return 70; }

  void draw(Screen& screen) override {
    update(screen);
    draw_toolbar(screen);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    if (layout_.nodes.empty())
      return empty_state(screen, "No layer was recorded.", "There is nothing to draw.");
    const Canvas area = canvas("graph", room);
    picture_.box = area.box;
    if (fit_ && room.y > 40.0f) {
      picture_ = start_picture(screen, area.box);
      fit_ = false;
    }
    follow_selection(screen);
    picture_.selected = screen.selected().layer;
    picture_.target = screen.target();
    picture_.colouring = static_cast<GraphColouring>(colouring_);
    handle_mouse(screen, area);
    auto painter = screen.painter();
    paint_graph(painter, picture_, layout_, *screen.snapshot, screen.theme);
  }

  Table table(const Screen& screen) const override {
    Table table = {{"layer", "op", "reads"}};
    for (const Layer& layer : screen.snapshot->layers) {
      std::string reads;
      for (const std::uint32_t input : layer.inputs)
        reads += (reads.empty() ? "" : " ") + screen.snapshot->layers[input].node;
      table.push_back({layer.node, layer.op, reads});
    }
    return table;
  }

  SavedPicture picture(const Screen& screen) const override {
    // Everything, as large as readable, unless that would exceed what image viewers accept.
    const float scale = std::min({44.0f, 16000.0f / std::max(1.0f, layout_.height),
                                  16000.0f / std::max(1.0f, layout_.width * node_aspect)});
    GraphPicture all = picture_;
    all.box = {0.0f, 0.0f, layout_.width * node_aspect * scale + 40.0f, layout_.height * scale + 40.0f};
    all.centre = {layout_.width / 2.0f, layout_.height / 2.0f};
    all.scale = scale;
    SvgPainter painter(all.box.right, all.box.bottom, screen.theme.panel);
    paint_graph(painter, all, layout_, *screen.snapshot, screen.theme);
    return {painter.finish(), {}};
  }

 private:
  void update(const Screen& screen) {
    if (number_ == screen.snapshot_number) return;
    number_ = screen.snapshot_number;
    layout_ = layout_of(*screen.snapshot);
    drawn_ = 0;
    for (const auto& rank : layout_.ranks) drawn_ += rank.size();
    fit_ = true;
    last_selected_ = no_place;
  }

  /// A network that fits is shown whole; of a long one, readable, where it first goes wrong or differs.
  [[nodiscard]] GraphPicture start_picture(const Screen& screen, Box box) const {
    const float readable = 44.0f * screen.scale;
    GraphPicture picture = fitted(box, layout_, readable);
    if (picture.scale < readable * 0.45f) {
      const float across = box.width() / std::max(1.0f, (layout_.width + 0.5f) * node_aspect);
      picture.scale = std::clamp(across, readable * 0.45f, readable * 0.8f);
      const Point node = layout_.nodes[anchor_layer(*screen.snapshot)];
      const float half_x = box.width() / picture.scale / node_aspect / 2.0f;
      const float half_y = box.height() / picture.scale / 2.0f;
      picture.centre = {within(node.x, half_x, layout_.width), within(node.y, half_y, layout_.height)};
    }
    return picture;
  }

  /// Where a view of this half size is centred so that it shows `at` and no more emptiness than it must.
  static float within(float at, float half, float size) {
    if (2.0f * half >= size) return size / 2.0f;
    return std::clamp(at, half - 0.25f, size - half + 0.25f);
  }

  /// The first fault of any target, else the first difference, else the first layer that is drawn.
  [[nodiscard]] std::size_t anchor_layer(const Snapshot& snapshot) const {
    std::size_t fault = no_place;
    std::size_t difference = no_place;
    for (const TargetColumn& target : snapshot.targets) {
      fault = std::min(fault, target.first_fault);
      difference = std::min(difference, target.first_divergence);
    }
    const std::size_t anchor = std::min(fault == no_place ? difference : fault, layout_.nodes.size());
    if (anchor < layout_.nodes.size() && !is_folded(snapshot, anchor)) return anchor;
    return layout_.ranks.empty() || layout_.ranks.front().empty() ? 0 : layout_.ranks.front().front();
  }

  void draw_toolbar(Screen& screen) {
    segments(screen, "colouring", colouring_, {"Verdict", "Time", "Memory", "Error"});
    hint("What the colours of the boxes show, on the selected target");
    flow(button_width("Whole network"));
    if (ImGui::Button("Whole network")) picture_ = fitted(picture_.box, layout_, 44.0f * screen.scale);
    flow(button_width("100 %"));
    if (ImGui::Button("100 %")) picture_.scale = 44.0f * screen.scale;
    if (!screen.snapshot->has_structure) {
      flow(24.0f * ImGui::GetFontSize());
      ImGui::AlignTextToFramePadding();
      ImGui::PushTextWrapPos(0.0f);
      small_text(screen, "Without the model only the order is known: open the .onnx file as well.",
                 screen.theme.dim);
      ImGui::PopTextWrapPos();
      return;
    }
    const std::string size = fmt::format("{} layers on {} levels", drawn_, layout_.ranks.size());
    flow(ImGui::CalcTextSize(size.c_str()).x);
    right_text(size, screen.theme.dim);
  }

  void follow_selection(const Screen& screen) {
    if (screen.selected().layer == last_selected_) return;
    last_selected_ = screen.selected().layer;
    if (last_selected_ >= layout_.nodes.size() || is_folded(*screen.snapshot, last_selected_)) return;
    const Point node = layout_.nodes[last_selected_];
    const float half_x = picture_.box.width() / picture_.scale / node_aspect / 2.0f - 0.7f;
    const float half_y = picture_.box.height() / picture_.scale / 2.0f - 0.7f;
    picture_.centre.x =
        std::clamp(picture_.centre.x, node.x - std::max(0.0f, half_x), node.x + std::max(0.0f, half_x));
    picture_.centre.y =
        std::clamp(picture_.centre.y, node.y - std::max(0.0f, half_y), node.y + std::max(0.0f, half_y));
  }

  void handle_mouse(Screen& screen, const Canvas& area) {
    const ImGuiIO& io = ImGui::GetIO();
    if (ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 3.0f)) {
      picture_.centre.x -= io.MouseDelta.x / (picture_.scale * node_aspect);
      picture_.centre.y -= io.MouseDelta.y / picture_.scale;
      dragged_ = true;
    }
    if (area.hovered && io.MouseWheel != 0.0f) {
      const float before = picture_.scale;
      const float min_scale = std::min(0.5f, fitted(picture_.box, layout_, 44.0f).scale);
      picture_.scale =
          std::clamp(picture_.scale * std::pow(1.2f, io.MouseWheel), min_scale, 160.0f * screen.scale);
      const Point middle = picture_.box.centre();
      const float dx = io.MousePos.x - middle.x;
      const float dy = io.MousePos.y - middle.y;
      picture_.centre.x += dx / node_aspect * (1.0f / before - 1.0f / picture_.scale);
      picture_.centre.y += dy * (1.0f / before - 1.0f / picture_.scale);
    }
    const std::size_t over = area.hovered ? graph_layer_at(picture_, layout_, point(io.MousePos)) : no_place;
    if (area.clicked && !dragged_ && over != no_place) {
      screen.selection.select_layer(over);
      last_selected_ = over;
    }
    if (!ImGui::IsMouseDown(ImGuiMouseButton_Left)) dragged_ = false;
    if (over == no_place || ImGui::IsItemActive()) return;
    const Layer& layer = screen.snapshot->layers[over];
    const Cell& cell = screen.snapshot->cell(over, screen.target());
    ImGui::BeginTooltip();
    ImGui::TextUnformatted(layer.node.c_str());
    small_text(screen,
               fmt::format("{}  {}  {}", layer.op, layer.shape_known ? shape_text(layer.shape) : "",
                           format_bytes(layer.bytes)),
               screen.theme.dim);
    verdict_label(screen, cell.verdict);
    ImGui::SameLine();
    ImGui::TextUnformatted(
        fmt::format("on {}, {}", screen.snapshot->targets[screen.target()].name, format_ns(cell.time_ns()))
            .c_str());
    ImGui::EndTooltip();
  }

  std::uint64_t number_ = 0;
  GraphLayout layout_;
  GraphPicture picture_;
  std::size_t drawn_ = 0;  // layers
  int colouring_ = 0;
  bool fit_ = true;
  bool dragged_ = false;
  std::size_t last_selected_ = no_place;
};

}  // namespace

std::unique_ptr<View> make_graph_view() { return std::make_unique<GraphView>(); }

}  // namespace driftscope::gui
