// ONNX Runtime's shared library, loaded on first use, so that a machine without it runs
// everything else. Clients: native/peers/ort.
#pragma once

#include <onnxruntime_c_api.h>

#include <memory>
#include <string>

#include "core/base/result.hpp"

namespace driftscope::ort {

struct Library {
  const OrtApi* api = nullptr;
  OrtEnv* env = nullptr;  ///< one per process, never released: threads may use it until the end
};

using LoadedLibrary = Result<const Library*>;

/// Looked for once: DRIFTSCOPE_ONNXRUNTIME (the file), node_modules above the program, that of the clone
/// it was built from, the system's. Errors (missing): none of them exists, not loadable, another version
/// than the pinned one.
/// `release`: of another one, which was fetched (core/engines/peer/release.hpp); empty: the pinned one.
/// Several may be loaded at a time.
[[nodiscard]] LoadedLibrary library(const std::string& release = {});

/// Releases objects of the C API, by the library that made them.
template <auto Release>
struct Releaser {
  const OrtApi* api = nullptr;
  template <class T>
  void operator()(T* object) const {
    (api->*Release)(object);
  }
};
template <class T, auto Release>
struct Handle : std::unique_ptr<T, Releaser<Release>> {
  Handle() = default;
  Handle(const OrtApi& api, T* object)
      : std::unique_ptr<T, Releaser<Release>>(object, Releaser<Release>{&api}) {}
};
using SessionHandle = Handle<::OrtSession, &OrtApi::ReleaseSession>;
using SessionOptionsHandle = Handle<OrtSessionOptions, &OrtApi::ReleaseSessionOptions>;
using MemoryInfoHandle = Handle<OrtMemoryInfo, &OrtApi::ReleaseMemoryInfo>;
using ValueHandle = Handle<OrtValue, &OrtApi::ReleaseValue>;
using TensorInfoHandle = Handle<OrtTensorTypeAndShapeInfo, &OrtApi::ReleaseTensorTypeAndShapeInfo>;

/// Converts a status of this library's C API, and frees it. `rejected`: the kind of error for a rejection if
/// its code does not say.
[[nodiscard]] Status checked(const OrtApi& api, OrtStatus* status, ErrorKind rejected = ErrorKind::bad_input);

}  // namespace driftscope::ort
