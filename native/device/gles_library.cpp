#include "native/device/gles_library.hpp"

#include <EGL/eglext.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstring>
#include <string_view>
#include <vector>

namespace driftscope::gpu::gles {
namespace {

bool lists(const char* extensions, std::string_view name) {
  for (std::string_view rest = extensions == nullptr ? "" : extensions; !rest.empty();) {
    const auto end = rest.find(' ');
    if (rest.substr(0, end) == name) return true;
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return false;
}

template <class Function>
bool find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function != nullptr;
}

bool initialize(const EglFunctions& egl, EGLDisplay display) {
  return display != EGL_NO_DISPLAY && egl.Initialize(display, nullptr, nullptr) == EGL_TRUE;
}

// A GPU if there is one, else Mesa's renderer on the CPU; neither needs a window system.
EGLDisplay choose_display(const EglFunctions& egl) {
  const char* const extensions = egl.QueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
  const auto get =
      reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(egl.GetProcAddress("eglGetPlatformDisplayEXT"));
  const auto devices = reinterpret_cast<PFNEGLQUERYDEVICESEXTPROC>(egl.GetProcAddress("eglQueryDevicesEXT"));
  const auto describe =
      reinterpret_cast<PFNEGLQUERYDEVICESTRINGEXTPROC>(egl.GetProcAddress("eglQueryDeviceStringEXT"));
  if (get != nullptr && devices != nullptr && describe != nullptr &&
      lists(extensions, "EGL_EXT_platform_device")) {
    EGLDeviceEXT found[16];
    EGLint count = 0;
    if (devices(16, found, &count) == EGL_TRUE)
      for (EGLint i = 0; i < count; ++i) {
        if (lists(describe(found[i], EGL_EXTENSIONS), "EGL_MESA_device_software")) continue;
        const EGLDisplay display = get(EGL_PLATFORM_DEVICE_EXT, found[i], nullptr);
        if (initialize(egl, display)) return display;
      }
  }
  if (get != nullptr && lists(extensions, "EGL_MESA_platform_surfaceless")) {
    const EGLDisplay display = get(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
    if (initialize(egl, display)) return display;
  }
  const EGLDisplay display = egl.GetDisplay(EGL_DEFAULT_DISPLAY);
  return initialize(egl, display) ? display : EGL_NO_DISPLAY;
}

Result<Library> load() {
  const auto advice = [](std::string_view what) {
    return missing_error(fmt::format(
        "{}; the packages libegl1, libgles2 and libgl1-mesa-dri have it, tools/setup installs them", what));
  };
  void* const egl = dlopen("libEGL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (egl == nullptr) return advice(fmt::format("OpenGL ES: {}", dlerror()));
  void* const gles = dlopen("libGLESv2.so.2", RTLD_NOW | RTLD_LOCAL);
  if (gles == nullptr) return advice(fmt::format("OpenGL ES: {}", dlerror()));
  Library made;
  const char* missing = nullptr;
#define DRIFTSCOPE_FIND(name) \
  if (!find(egl, "egl" #name, made.egl.name)) missing = "egl" #name;
  DRIFTSCOPE_FIND(GetProcAddress)
  DRIFTSCOPE_FIND(QueryString)
  DRIFTSCOPE_FIND(GetDisplay)
  DRIFTSCOPE_FIND(Initialize)
  DRIFTSCOPE_FIND(BindAPI)
  DRIFTSCOPE_FIND(ChooseConfig)
  DRIFTSCOPE_FIND(CreateContext)
  DRIFTSCOPE_FIND(DestroyContext)
  DRIFTSCOPE_FIND(MakeCurrent)
#undef DRIFTSCOPE_FIND
#define DRIFTSCOPE_FIND(name) \
  if (!find(gles, "gl" #name, made.gl.name)) missing = "gl" #name;
  DRIFTSCOPE_GLES_FUNCTIONS(DRIFTSCOPE_FIND)
#undef DRIFTSCOPE_FIND
  if (missing != nullptr) return advice(fmt::format("this OpenGL ES lacks {}", missing));
  made.gl.GetGraphicsResetStatus =
      reinterpret_cast<GLenum (*)()>(made.egl.GetProcAddress("glGetGraphicsResetStatusEXT"));
  made.display = choose_display(made.egl);
  if (made.display == EGL_NO_DISPLAY) return advice("EGL finds no display that works without a window");
  return made;
}

}  // namespace

const Result<Library>& library() {
  static const Result<Library> loaded = load();
  return loaded;
}

}  // namespace driftscope::gpu::gles
