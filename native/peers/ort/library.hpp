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

/// Looked for once: DRIFTSCOPE_ONNXRUNTIME (the file), node_modules above the program, that of the clone
/// it was built from, the system's. Errors (missing): none of them exists, not loadable, another version
/// than the pinned one.
[[nodiscard]] const Result<Library>& library();

/// Releases objects of the C API.
template <auto Release>
struct Releaser {
  template <class T>
  void operator()(T* object) const {
    (library()->api->*Release)(object);
  }
};
template <class T, auto Release>
using Handle = std::unique_ptr<T, Releaser<Release>>;
using SessionHandle = Handle<::OrtSession, &OrtApi::ReleaseSession>;
using SessionOptionsHandle = Handle<OrtSessionOptions, &OrtApi::ReleaseSessionOptions>;
using MemoryInfoHandle = Handle<OrtMemoryInfo, &OrtApi::ReleaseMemoryInfo>;
using ValueHandle = Handle<OrtValue, &OrtApi::ReleaseValue>;
using TensorInfoHandle = Handle<OrtTensorTypeAndShapeInfo, &OrtApi::ReleaseTensorTypeAndShapeInfo>;

/// Converts a status of the C API, and frees it. `rejected`: the kind of error for a rejection if
/// its code does not say.
[[nodiscard]] Status checked(OrtStatus* status, ErrorKind rejected = ErrorKind::bad_input);

}  // namespace driftscope::ort
