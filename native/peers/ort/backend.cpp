// The engine ort on the PC: the C API. A run blocks until it is over, as ONNX Runtime's does.
#include "core/engines/ort/ort.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "native/peers/ort/library.hpp"

namespace driftscope::ort {
namespace {

using peer::CreateRequest;
using peer::RunResult;
using peer::RuntimeModel;

// By default MLAS uses the widest vectors that the processor has.
std::string instruction_set() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512vnni")) return "MLAS, AVX-512 VNNI";
  if (__builtin_cpu_supports("avx512f")) return "MLAS, AVX-512";
  if (__builtin_cpu_supports("avx2")) return "MLAS, AVX2";
  return __builtin_cpu_supports("avx") ? "MLAS, AVX" : "MLAS, SSE";
}

Result<ValueHandle> wrap(const NamedTensor& input, const OrtMemoryInfo* memory) {
  const Tensor& tensor = input.tensor;
  OrtValue* value = nullptr;
  // ONNX Runtime only reads its inputs; its types have the numbers of TensorProto.DataType.
  DRIFTSCOPE_CHECK(checked(library()->api->CreateTensorWithDataAsOrtValue(
      memory, const_cast<std::byte*>(tensor.bytes().data()), tensor.bytes().size(), tensor.shape().data(),
      tensor.shape().size(), static_cast<ONNXTensorElementDataType>(tensor.dtype()), &value)));
  return ValueHandle(value);
}

/// A tensor without a type where ours cannot hold the value: a sequence, a map, strings, 8-bit floats.
Result<Tensor> unwrap(OrtValue* value, const std::string& name) {
  const OrtApi& api = *library()->api;
  if (value == nullptr) return Tensor();
  int is_tensor = 0;
  DRIFTSCOPE_CHECK(checked(api.IsTensor(value, &is_tensor)));
  if (is_tensor == 0) return Tensor();
  OrtTensorTypeAndShapeInfo* made = nullptr;
  DRIFTSCOPE_CHECK(checked(api.GetTensorTypeAndShape(value, &made)));
  const TensorInfoHandle info(made);
  ONNXTensorElementDataType type{};
  std::size_t rank = 0;
  DRIFTSCOPE_CHECK(checked(api.GetTensorElementType(info.get(), &type)));
  DRIFTSCOPE_CHECK(checked(api.GetDimensionsCount(info.get(), &rank)));
  Shape shape(rank);
  DRIFTSCOPE_CHECK(checked(api.GetDimensions(info.get(), shape.data(), rank)));
  const auto dtype = dtype_from_onnx(static_cast<std::int64_t>(type));
  if (!dtype || bits_per_element(*dtype) == 0) return Tensor();
  DRIFTSCOPE_TRY(const std::int64_t size, tensor_byte_size(*dtype, shape, name));
  void* data = nullptr;
  DRIFTSCOPE_CHECK(checked(api.GetTensorMutableData(value, &data)));
  return Tensor::from_bytes(*dtype, std::move(shape),
                            {static_cast<const std::byte*>(data), static_cast<std::size_t>(size)}, name);
}

/// A file in memory only, which ONNX Runtime writes by its path.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("driftscope-optimized.onnx", MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  [[nodiscard]] bool ok() const { return descriptor_ >= 0; }
  [[nodiscard]] std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }
  [[nodiscard]] Result<std::vector<std::byte>> read() const {
    const off_t size = lseek(descriptor_, 0, SEEK_END);
    std::vector<std::byte> bytes(size > 0 ? static_cast<std::size_t>(size) : 0);
    for (std::size_t at = 0; at < bytes.size();) {
      const ssize_t got = pread(descriptor_, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
      if (got <= 0) return io_error("the optimised model could not be read back");
      at += static_cast<std::size_t>(got);
    }
    return bytes;
  }

 private:
  int descriptor_;
};

class NativeModel final : public RuntimeModel {
 public:
  explicit NativeModel(int threads) : threads_(threads) {}

  Status create(const CreateRequest& request) {
    const OrtApi& api = *library()->api;
    OrtSessionOptions* made = nullptr;
    DRIFTSCOPE_CHECK(checked(api.CreateSessionOptions(&made)));
    const SessionOptionsHandle options(made);
    DRIFTSCOPE_CHECK(
        checked(api.SetSessionGraphOptimizationLevel(options.get(), level(request.options.at("opt")))));
    DRIFTSCOPE_CHECK(checked(api.SetIntraOpNumThreads(options.get(), threads_)));
    DRIFTSCOPE_CHECK(checked(api.SetInterOpNumThreads(options.get(), 1)));
    // It ignores unknown session options (onnxruntime_session_options_config_keys.h).
    for (const auto& [key, value] : request.options)
      if (key.find('.') != std::string::npos)
        DRIFTSCOPE_CHECK(checked(api.AddSessionConfigEntry(options.get(), key.c_str(), value.c_str())));
    DRIFTSCOPE_CHECK(add_files(options.get(), *request.source));
    if (request.keep_rewritten) {
      optimized_.emplace();
      if (!optimized_->ok()) return io_error("not enough memory for the optimised model");
      DRIFTSCOPE_CHECK(checked(api.SetOptimizedModelFilePath(options.get(), optimized_->path().c_str())));
    }
    ::OrtSession* session = nullptr;
    DRIFTSCOPE_CHECK(checked(api.CreateSessionFromArray(library()->env, request.model.data(),
                                                        request.model.size(), options.get(), &session),
                             ErrorKind::unsupported));
    session_.reset(session);
    OrtMemoryInfo* memory = nullptr;
    DRIFTSCOPE_CHECK(checked(api.CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &memory)));
    memory_.reset(memory);
    return {};
  }

  [[nodiscard]] Result<bool> ready() override { return true; }

  [[nodiscard]] Status run(std::span<const NamedTensor> inputs, std::span<const std::string> outputs,
                           bool /*timed*/) override {
    std::vector<ValueHandle> wrapped;
    std::vector<const OrtValue*> values;
    std::vector<const char*> input_names;
    for (const NamedTensor& input : inputs) {
      DRIFTSCOPE_TRY(ValueHandle value, wrap(input, memory_.get()));
      values.push_back(value.get());
      wrapped.push_back(std::move(value));
      input_names.push_back(input.name.c_str());
    }
    std::vector<const char*> output_names;
    for (const std::string& name : outputs) output_names.push_back(name.c_str());
    std::vector<OrtValue*> got(outputs.size(), nullptr);
    const std::int64_t begin = monotonic_ns();
    OrtStatus* const status =
        library()->api->Run(session_.get(), nullptr, input_names.data(), values.data(), values.size(),
                            output_names.data(), output_names.size(), got.data());
    const std::int64_t time = monotonic_ns() - begin;
    std::vector<ValueHandle> owned;
    for (OrtValue* const value : got) owned.emplace_back(value);
    DRIFTSCOPE_CHECK(checked(status));
    RunResult result{{}, time, {}};
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      DRIFTSCOPE_TRY(Tensor tensor, unwrap(owned[i].get(), outputs[i]));
      result.values.push_back({outputs[i], std::move(tensor)});
      owned[i].reset();
    }
    result_ = std::move(result);
    return {};
  }

  [[nodiscard]] Result<std::optional<RunResult>> result() override {
    return std::exchange(result_, std::nullopt);
  }

  [[nodiscard]] Result<std::vector<std::byte>> rewritten() override {
    if (!optimized_) return internal_error("the optimised model was not kept");
    return optimized_->read();
  }

  void describe(RanWith& ran) const override {
    ran.instruction_set = instruction_set();
    ran.threads_real = threads_;
  }

 private:
  static GraphOptimizationLevel level(std::string_view opt) {
    if (opt == "none") return ORT_DISABLE_ALL;
    if (opt == "basic") return ORT_ENABLE_BASIC;
    return opt == "extended" ? ORT_ENABLE_EXTENDED : ORT_ENABLE_ALL;
  }

  static Status add_files(OrtSessionOptions* options, const ModelSource& source) {
    std::vector<const char*> names;
    std::vector<char*> buffers;
    std::vector<std::size_t> sizes;
    for (const SourceFile& file : source.files) {
      names.push_back(file.name.c_str());
      buffers.push_back(reinterpret_cast<char*>(const_cast<std::byte*>(file.bytes.data())));
      sizes.push_back(file.bytes.size());
    }
    if (names.empty()) return {};
    return checked(library()->api->AddExternalInitializersFromFilesInMemory(
        options, names.data(), buffers.data(), sizes.data(), names.size()));
  }

  int threads_;
  SessionHandle session_;
  MemoryInfoHandle memory_;
  std::optional<RunResult> result_;
  std::optional<MemoryFile> optimized_;
};

class NativeRuntime final : public peer::Runtime {
 public:
  [[nodiscard]] Availability available() const override {
    const auto& loaded = library();
    if (!loaded.ok()) return {false, loaded.error().message};
    return {true, fmt::format("ONNX Runtime {}", peer_info().version)};
  }

  [[nodiscard]] std::string hides_rewritten() const override { return {}; }
  [[nodiscard]] std::string lacks(DType /*dtype*/) const override { return {}; }

  [[nodiscard]] Result<std::unique_ptr<RuntimeModel>> create(const CreateRequest& request) const override {
    if (!library().ok()) return library().error();
    auto model = std::make_unique<NativeModel>(request.threads);
    DRIFTSCOPE_CHECK(model->create(request));
    return std::unique_ptr<RuntimeModel>(std::move(model));
  }
};

}  // namespace

const peer::Runtime& runtime() {
  static const NativeRuntime the_runtime;
  return the_runtime;
}

}  // namespace driftscope::ort
