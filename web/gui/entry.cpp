// The GUI on the page: ImGui on a WebGL2 canvas, driven by web/gui/gui.mjs. Events come in as calls,
// the person's requests go out as calls; the engine is elsewhere, in its worker.
#include <emscripten.h>
#include <emscripten/html5_webgl.h>
#include <imgui.h>
#include <imgui_impl_opengl3.h>

#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/gui/imgui/app.hpp"
#include "core/gui/imgui/font.hpp"
#include "core/gui/imgui/gl.hpp"
#include "core/gui/kept_run.hpp"
#include "core/gui/opened_results.hpp"
#include "web/gui/page_feed.hpp"

using namespace driftscope;

// Requests to the page: {"do":"run","targets":[…]} and the like.
EM_JS(void, ds_page_command, (const char* json), { Module.onCommand(UTF8ToString(json)); });
EM_JS(void, ds_page_save, (const char* name, const std::byte* bytes, std::size_t size),
      { Module.onSave(UTF8ToString(name), HEAPU8.slice(bytes >>> 0, (bytes >>> 0) + size)); });
EM_JS(void, ds_page_copy, (const char* text), { Module.onCopy(UTF8ToString(text)); });

namespace {

class PageHost final : public gui::Host {
 public:
  std::shared_ptr<const gui::Feed> feed() override { return feed_; }
  void set_feed(gui::Feed feed) {
    feed.snapshot = feed_->snapshot;
    feed.study = feed_->study;
    feed.attacks = feed_->attacks;
    feed.curves = feed_->curves;
    feed.generation = feed_->generation;
    if (!feed.history) feed.history = feed_->history;
    feed_ = std::make_shared<const gui::Feed>(std::move(feed));
  }
  void show(gui::Snapshot snapshot) {
    auto next = std::make_shared<gui::Feed>(*feed_);
    next->snapshot = std::make_shared<const gui::Snapshot>(std::move(snapshot));
    feed_ = std::move(next);
  }
  /// Beside the run that is shown.
  void show(gui::OpenedResults results) {
    auto next = std::make_shared<gui::Feed>(*feed_);
    if (results.study) next->study = std::move(results.study);
    if (results.curves) next->curves = std::move(results.curves);
    if (results.generation) next->generation = std::move(results.generation);
    if (!results.attacks.empty()) {
      std::vector<AttackResults> all = next->attacks ? *next->attacks : std::vector<AttackResults>();
      for (AttackResults& one : results.attacks) all = attacks_with(std::move(all), std::move(one));
      next->attacks = std::make_shared<const std::vector<AttackResults>>(std::move(all));
    }
    feed_ = std::move(next);
  }
  void run_demo() override { ds_page_command("{\"do\":\"demo\"}"); }
  void choose_model(std::size_t place) override {
    ds_page_command(page_command("model", static_cast<std::int64_t>(place)).c_str());
  }
  void choose_sample(std::int64_t sample) override {
    ds_page_command(page_command("sample", sample).c_str());
  }
  void run(gui::RunChoice choice) override { ds_page_command(run_command(choice).c_str()); }
  void stop() override { ds_page_command("{\"do\":\"stop\"}"); }
  std::string save(const std::string& name, std::span<const std::byte> bytes) override {
    ds_page_save(name.c_str(), bytes.data(), bytes.size());
    return "saved as " + name + " where this browser keeps downloads";
  }
  void in_background(std::function<void()> work) override {
    background_.push_back(std::move(work));
    // A timer of its own: after the frame that asked.
    emscripten_async_call([](void* host) { static_cast<PageHost*>(host)->work_on(); }, this, 0);
  }
  std::uintptr_t make_texture(const Image& image) override { return gui::make_gl_texture(image); }
  void release_texture(std::uintptr_t texture) override { gui::release_gl_texture(texture); }

 private:
  void work_on();

  std::deque<std::function<void()>> background_;
  std::shared_ptr<const gui::Feed> feed_ = std::make_shared<const gui::Feed>();
};

struct Screens {
  PageHost host;
  std::optional<gui::App> app;
  std::vector<std::shared_ptr<const gui::RecordedTensors>> traces;  // of the next show
  std::vector<gui::ChosenFile> files;                               // of the next results
  std::vector<std::shared_ptr<const void>> file_owners;
  int width = 1;
  int height = 1;
  double time_ms = 0.0;
  int redraw_frames = 30;  // frames until everything is at rest
  std::string reply;
};

Screens& screens() {
  static Screens the_screens;
  return the_screens;
}

void wake() { screens().redraw_frames = 30; }

void PageHost::work_on() {
  if (background_.empty()) return;
  const auto work = std::move(background_.front());
  background_.pop_front();
  work();
  wake();
}

/// The error message for the page; null on success.
const char* reply_of(const Status& status) {
  if (status.ok()) return nullptr;
  screens().reply = status.error().message;
  return screens().reply.c_str();
}

/// Of memory from the page's malloc.
std::shared_ptr<const void> owner_of(std::byte* bytes) {
  return {bytes, [](const void* memory) { std::free(const_cast<void*>(memory)); }};
}

}  // namespace

extern "C" {

/// Creates a WebGL2 context on the canvas, and the app; `touch`: a touch screen without a mouse. 0: browser
/// has no WebGL2.
EMSCRIPTEN_KEEPALIVE int gui_start(const char* canvas, int dark, int touch) {
  EmscriptenWebGLContextAttributes wanted;
  emscripten_webgl_init_context_attributes(&wanted);
  wanted.majorVersion = 2;
  wanted.alpha = false;
  wanted.depth = false;
  wanted.antialias = false;  // ImGui smooths its lines by itself
  const auto context = emscripten_webgl_create_context(canvas, &wanted);
  if (context <= 0) return 0;
  emscripten_webgl_make_context_current(context);
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.SetClipboardTextFn = [](void*, const char* text) { ds_page_copy(text); };
  ImGui_ImplOpenGL3_Init("#version 300 es");
  const gui::AppOptions options{dark != 0, 1.0f, true, touch != 0};
  screens().app.emplace(screens().host, gui::default_font(), options);
  return 1;
}

EMSCRIPTEN_KEEPALIVE void gui_resize(int width, int height, double scale) {
  screens().width = width;
  screens().height = height;
  screens().app->set_display_scale(static_cast<float>(scale));
  wake();
}

/// Draws when something changed; true when it did.
EMSCRIPTEN_KEEPALIVE int gui_frame(double now_ms) {
  Screens& all = screens();
  gui::App& app = *all.app;
  if (all.redraw_frames <= 0 && !app.restless()) return 0;
  --all.redraw_frames;
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {static_cast<float>(all.width), static_cast<float>(all.height)};
  io.DeltaTime = static_cast<float>(std::max(0.001, std::min(0.2, (now_ms - all.time_ms) / 1000.0)));
  all.time_ms = now_ms;
  ImGui_ImplOpenGL3_NewFrame();
  if (app.prepare()) {
    ImGui_ImplOpenGL3_DestroyFontsTexture();
    ImGui_ImplOpenGL3_CreateFontsTexture();
  }
  ImGui::NewFrame();
  app.frame();
  ImGui::Render();
  gui::clear_gl(all.width, all.height, app.ground());
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  app.after_render([&](Box box) { return gui::read_gl_pixels(box, all.width, all.height); });
  return 1;
}

/// `touch`: a finger, which has no position once lifted.
EMSCRIPTEN_KEEPALIVE void gui_pointer(double x, double y, int button, int down, int touch) {
  ImGuiIO& io = ImGui::GetIO();
  io.AddMouseSourceEvent(touch != 0 ? ImGuiMouseSource_TouchScreen : ImGuiMouseSource_Mouse);
  io.AddMousePosEvent(static_cast<float>(x), static_cast<float>(y));
  if (button >= 0 && button < 3) io.AddMouseButtonEvent(button, down != 0);
  if (touch != 0 && button >= 0 && down == 0) io.AddMousePosEvent(-FLT_MAX, -FLT_MAX);
  wake();
}

EMSCRIPTEN_KEEPALIVE void gui_leave() {
  ImGui::GetIO().AddMousePosEvent(-FLT_MAX, -FLT_MAX);
  wake();
}

/// Releases what a finger holds, without causing a click or a drag.
EMSCRIPTEN_KEEPALIVE void gui_let_go() {
  gui_leave();
  ImGui::GetIO().AddMouseButtonEvent(0, false);
}

EMSCRIPTEN_KEEPALIVE void gui_wheel(double x, double y) {
  ImGui::GetIO().AddMouseWheelEvent(static_cast<float>(x), static_cast<float>(y));
  wake();
}

/// Scrolls the item under the pointer by this many pixels of the canvas, as a finger does.
EMSCRIPTEN_KEEPALIVE void gui_scroll(double x, double y) {
  // ImGui scrolls by five lines of text per step of the wheel, and sideways by two line heights.
  const float line = ImGui::GetIO().Fonts->Fonts[0]->FontSize;
  gui_wheel(x / (2.0 * line), y / (5.0 * line));
}

/// `code` as KeyboardEvent.code; true when a text field takes keys.
EMSCRIPTEN_KEEPALIVE int gui_key(const char* code, int down, int ctrl, int shift, int alt) {
  ImGuiIO& io = ImGui::GetIO();
  io.AddKeyEvent(ImGuiMod_Ctrl, ctrl != 0);
  io.AddKeyEvent(ImGuiMod_Shift, shift != 0);
  io.AddKeyEvent(ImGuiMod_Alt, alt != 0);
  const ImGuiKey key = key_of_code(code);
  if (key != ImGuiKey_None) io.AddKeyEvent(key, down != 0);
  wake();
  return io.WantTextInput ? 1 : 0;
}

EMSCRIPTEN_KEEPALIVE void gui_text(const char* utf8) {
  ImGui::GetIO().AddInputCharactersUTF8(utf8);
  wake();
}

/// Whether a text field takes what is typed.
EMSCRIPTEN_KEEPALIVE int gui_wants_text() { return ImGui::GetIO().WantTextInput ? 1 : 0; }

/// Whether the pointer was over a text field in the last frame.
EMSCRIPTEN_KEEPALIVE int gui_over_text() {
  return ImGui::GetMouseCursor() == ImGuiMouseCursor_TextInput ? 1 : 0;
}

EMSCRIPTEN_KEEPALIVE void gui_focus(int focused) {
  ImGui::GetIO().AddFocusEvent(focused != 0);
  wake();
}

/// Models, targets, progress (page_feed.hpp).
EMSCRIPTEN_KEEPALIVE const char* gui_feed(const char* json) {
  auto feed = read_page_feed(json);
  wake();
  if (!feed.ok()) return reply_of(feed.error());
  screens().host.set_feed(*std::move(feed));
  return nullptr;
}

/// Takes ownership of `bytes`, a whole trace from malloc, for the next gui_show.
EMSCRIPTEN_KEEPALIVE const char* gui_trace(std::byte* bytes, std::size_t size) {
  auto trace = gui::RecordedTensors::open(owner_of(bytes), {bytes, size});
  if (!trace.ok()) return reply_of(trace.error());
  screens().traces.push_back(*std::move(trace));
  return nullptr;
}

/// Shows the traces with the JSON's data about them.
EMSCRIPTEN_KEEPALIVE const char* gui_show(const char* json) {
  auto parts = read_page_run(json, std::exchange(screens().traces, {}));
  wake();
  if (!parts.ok()) return reply_of(parts.error());
  screens().host.show(gui::make_snapshot(*std::move(parts)));
  return nullptr;
}

/// Shows a kept comparison; takes ownership of `bytes`, the whole file from malloc.
EMSCRIPTEN_KEEPALIVE const char* gui_kept(std::byte* bytes, std::size_t size) {
  const std::shared_ptr<const void> owner = owner_of(bytes);
  wake();
  const auto kept = KeptComparison::open({bytes, size});
  if (!kept.ok()) return reply_of(kept.error());
  auto parts = gui::parts_of(*kept, owner);
  if (!parts.ok()) return reply_of(parts.error());
  screens().host.show(gui::make_snapshot(*std::move(parts)));
  return nullptr;
}

/// Takes ownership of `bytes`, a whole file from malloc, for the next gui_results.
EMSCRIPTEN_KEEPALIVE void gui_file(const char* path, std::byte* bytes, std::size_t size) {
  screens().file_owners.push_back(owner_of(bytes));
  screens().files.push_back({path, {bytes, size}});
}

/// Shows what the files are: studies, attacks, generations, training curves. Returns what cannot be used, a
/// line each; null: nothing.
EMSCRIPTEN_KEEPALIVE const char* gui_results() {
  const auto owners = std::exchange(screens().file_owners, {});
  const auto files = std::exchange(screens().files, {});
  std::string& errors = screens().reply;
  errors.clear();
  wake();
  gui::OpenedResults results;
  try {
    results = gui::open_results(files);
  } catch (const std::bad_alloc&) {
    return reply_of(limit_error("not enough memory in this browser; driftscope gui opens larger files"));
  }
  for (const std::string& error : results.errors) errors += (errors.empty() ? "" : "\n") + error;
  if (results.any()) screens().host.show(std::move(results));
  return errors.empty() ? nullptr : errors.c_str();
}

EMSCRIPTEN_KEEPALIVE int gui_view(const char* title) {
  wake();
  return screens().app->open_view(title) ? 1 : 0;
}

EMSCRIPTEN_KEEPALIVE void gui_layer(const char* name) {
  screens().app->open_layer(name);
  wake();
}

/// The current view, for links and tests: "Layers\nconv1".
EMSCRIPTEN_KEEPALIVE const char* gui_state() {
  screens().reply = std::string(screens().app->view_title()) + "\n" + screens().app->selected_layer();
  return screens().reply.c_str();
}
}
