// The engine ort on the PC: the C API. A run blocks until it is over, as ONNX Runtime's does.
#include "core/engines/ort/ort.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include "native/peers/ort/library.hpp"
#include "native/peers/ort/output_file.hpp"

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

// ONNX Runtime's types have the numbers of TensorProto.DataType, but for these (its headers here are older).
struct OtherNumber {
  DType dtype;
  int number;
};
constexpr std::array other_numbers = {OtherNumber{DType::uint2, 24}, OtherNumber{DType::int2, 25},
                                      OtherNumber{DType::float8e8m0, 26}};

std::optional<DType> known_type(ONNXTensorElementDataType type) {
  for (const OtherNumber& other : other_numbers)
    if (other.number == static_cast<int>(type)) return other.dtype;
  return dtype_from_onnx(static_cast<std::int64_t>(type));
}

Result<std::optional<DType>> type_of(const OrtApi& api, const OrtValue* value) {
  OrtTensorTypeAndShapeInfo* made = nullptr;
  DRIFTSCOPE_CHECK(checked(api, api.GetTensorTypeAndShape(value, &made)));
  const TensorInfoHandle info(api, made);
  ONNXTensorElementDataType type{};
  DRIFTSCOPE_CHECK(checked(api, api.GetTensorElementType(info.get(), &type)));
  return known_type(type);
}

/// A value whose elements are in `memory`, which outlives it.
Result<ValueHandle> value_in(const OrtApi& api, const OrtMemoryInfo* info, std::span<std::byte> memory,
                             DType dtype, const Shape& shape) {
  const auto made = [&](int number) -> Result<ValueHandle> {
    OrtValue* value = nullptr;
    DRIFTSCOPE_CHECK(checked(api, api.CreateTensorWithDataAsOrtValue(
                                      info, memory.data(), memory.size(), shape.data(), shape.size(),
                                      static_cast<ONNXTensorElementDataType>(number), &value)));
    return ValueHandle(api, value);
  };
  // Release 1.30 names the types of values by its own numbers, but takes those of TensorProto.
  for (const OtherNumber& other : other_numbers) {
    if (other.dtype != dtype) continue;
    Result<ValueHandle> value = made(other.number);
    if (!value.ok()) break;
    DRIFTSCOPE_TRY(const std::optional<DType> type, type_of(api, value->get()));
    if (type == dtype) return value;
  }
  return made(static_cast<int>(dtype));
}

/// ONNX Runtime only reads its inputs.
Result<ValueHandle> wrap(const OrtApi& api, const NamedTensor& input, const OrtMemoryInfo* memory) {
  const Tensor& tensor = input.tensor;
  const std::span<const std::byte> bytes = tensor.bytes();
  return value_in(api, memory, {const_cast<std::byte*>(bytes.data()), bytes.size()}, tensor.dtype(),
                  tensor.shape());
}

/// A tensor without a type where ours cannot hold the value: a sequence, a map, strings.
/// `file`: where it may lie; null: nowhere else than in memory.
Result<Tensor> unwrap(const OrtApi& api, OrtValue* value, const std::string& name,
                      const std::shared_ptr<OutputFile>& file) {
  if (value == nullptr) return Tensor();
  int is_tensor = 0;
  DRIFTSCOPE_CHECK(checked(api, api.IsTensor(value, &is_tensor)));
  if (is_tensor == 0) return Tensor();
  OrtTensorTypeAndShapeInfo* made = nullptr;
  DRIFTSCOPE_CHECK(checked(api, api.GetTensorTypeAndShape(value, &made)));
  const TensorInfoHandle info(api, made);
  ONNXTensorElementDataType type{};
  std::size_t rank = 0;
  DRIFTSCOPE_CHECK(checked(api, api.GetTensorElementType(info.get(), &type)));
  DRIFTSCOPE_CHECK(checked(api, api.GetDimensionsCount(info.get(), &rank)));
  Shape shape(rank);
  DRIFTSCOPE_CHECK(checked(api, api.GetDimensions(info.get(), shape.data(), rank)));
  const auto dtype = known_type(type);
  if (!dtype || bits_per_element(*dtype) == 0) return Tensor();
  DRIFTSCOPE_TRY(const std::int64_t size, tensor_byte_size(*dtype, shape, name));
  void* data = nullptr;
  DRIFTSCOPE_CHECK(checked(api, api.GetTensorMutableData(value, &data)));
  if (file != nullptr && file->holds(data))
    return Tensor::in(std::shared_ptr<std::byte>(file, static_cast<std::byte*>(data)), *dtype,
                      std::move(shape), name);
  return Tensor::from_bytes(*dtype, std::move(shape),
                            {static_cast<const std::byte*>(data), static_cast<std::size_t>(size)}, name);
}

/// Outputs of the next run that lie in a file.
struct ReservedOutputs {
  struct Place {
    std::size_t offset = 0;
    std::size_t bytes = 0;
    DType dtype = DType::undefined;
    Shape shape;
  };
  std::shared_ptr<OutputFile> file;
  std::map<std::string, Place> places;

  /// Null: ONNX Runtime allocates it.
  [[nodiscard]] Result<ValueHandle> value(const OrtApi& api, const std::string& name,
                                          const OrtMemoryInfo* memory) const {
    const auto found = places.find(name);
    if (found == places.end()) return ValueHandle();
    const Place& place = found->second;
    return value_in(api, memory, {file->data() + place.offset, place.bytes}, place.dtype, place.shape);
  }
};

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
  NativeModel(const Library& library, int threads) : library_(library), threads_(threads) {}

  Status create(const CreateRequest& request) {
    const OrtApi& api = *library_.api;
    OrtSessionOptions* made = nullptr;
    DRIFTSCOPE_CHECK(checked(api, api.CreateSessionOptions(&made)));
    const SessionOptionsHandle options(api, made);
    DRIFTSCOPE_CHECK(
        checked(api, api.SetSessionGraphOptimizationLevel(options.get(), level(request.options.at("opt")))));
    DRIFTSCOPE_CHECK(checked(api, api.SetIntraOpNumThreads(options.get(), threads_)));
    DRIFTSCOPE_CHECK(checked(api, api.SetInterOpNumThreads(options.get(), 1)));
    // It ignores unknown session options (onnxruntime_session_options_config_keys.h).
    for (const auto& [key, value] : request.options)
      if (key.find('.') != std::string::npos)
        DRIFTSCOPE_CHECK(checked(api, api.AddSessionConfigEntry(options.get(), key.c_str(), value.c_str())));
    DRIFTSCOPE_CHECK(add_files(api, options.get(), *request.source));
    if (request.keep_rewritten) {
      optimized_.emplace();
      if (!optimized_->ok()) return io_error("not enough memory for the optimised model");
      DRIFTSCOPE_CHECK(
          checked(api, api.SetOptimizedModelFilePath(options.get(), optimized_->path().c_str())));
    }
    ::OrtSession* session = nullptr;
    DRIFTSCOPE_CHECK(checked(api,
                             api.CreateSessionFromArray(library_.env, request.model.data(),
                                                        request.model.size(), options.get(), &session),
                             ErrorKind::unsupported));
    session_ = SessionHandle(api, session);
    OrtMemoryInfo* memory = nullptr;
    DRIFTSCOPE_CHECK(checked(api, api.CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &memory)));
    memory_ = MemoryInfoHandle(api, memory);
    return {};
  }

  [[nodiscard]] Result<bool> ready() override { return true; }

  [[nodiscard]] Status run(std::span<const NamedTensor> inputs, std::span<const std::string> outputs,
                           bool /*timed*/) override {
    const OrtApi& api = *library_.api;
    std::vector<ValueHandle> wrapped;
    std::vector<const OrtValue*> values;
    std::vector<const char*> input_names;
    for (const NamedTensor& input : inputs) {
      DRIFTSCOPE_TRY(ValueHandle value, wrap(api, input, memory_.get()));
      values.push_back(value.get());
      wrapped.push_back(std::move(value));
      input_names.push_back(input.name.c_str());
    }
    std::vector<const char*> output_names;
    for (const std::string& name : outputs) output_names.push_back(name.c_str());
    const auto run_into = [&](const ReservedOutputs& reserved) -> Status {
      std::vector<OrtValue*> got(outputs.size(), nullptr);
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        auto value = reserved.value(api, outputs[i], memory_.get());
        if (value.ok()) got[i] = value->release();  // else it allocates
      }
      const std::int64_t begin = monotonic_ns();
      OrtStatus* const status = api.Run(session_.get(), nullptr, input_names.data(), values.data(),
                                        values.size(), output_names.data(), output_names.size(), got.data());
      const std::int64_t time = monotonic_ns() - begin;
      std::vector<ValueHandle> owned;
      for (OrtValue* const value : got) owned.emplace_back(api, value);
      DRIFTSCOPE_CHECK(checked(api, status));
      RunResult result{{}, time, {}};
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        DRIFTSCOPE_TRY(Tensor tensor, unwrap(api, owned[i].get(), outputs[i], reserved.file));
        result.values.push_back({outputs[i], std::move(tensor)});
        owned[i].reset();
      }
      result_ = std::move(result);
      return {};
    };
    const ReservedOutputs reserved = std::exchange(reserved_, {});
    const Status status = run_into(reserved);
    // Perhaps a shape is not what was expected: what is wrong with the run itself fails again.
    return status.ok() || reserved.file == nullptr ? status : run_into({});
  }

  [[nodiscard]] Result<std::optional<RunResult>> result() override {
    return std::exchange(result_, std::nullopt);
  }

  [[nodiscard]] bool reserve(std::span<const peer::ExpectedValue> values) override {
    constexpr std::size_t alignment = 64;  // of a tensor's elements, and what may be read behind them
    constexpr std::size_t worthwhile = 64 * 1024;
    reserved_ = {};
    std::size_t end = 0;
    for (const peer::ExpectedValue& value : values) {
      const auto bytes = tensor_byte_size(value.dtype, value.shape, value.name);
      if (!bytes.ok()) return false;
      const auto size = static_cast<std::size_t>(*bytes);
      if (size < worthwhile || bits_per_element(value.dtype) < 8) continue;
      if (size > std::numeric_limits<std::size_t>::max() / 2 - end) return false;
      reserved_.places[value.name] = {end, size, value.dtype, value.shape};
      end += (size + alignment - 1) / alignment * alignment + alignment;
    }
    if (end > 0) reserved_.file = OutputFile::make(end);
    if (reserved_.file == nullptr) reserved_ = {};
    return reserved_.file != nullptr;
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

  static Status add_files(const OrtApi& api, OrtSessionOptions* options, const ModelSource& source) {
    std::vector<const char*> names;
    std::vector<char*> buffers;
    std::vector<std::size_t> sizes;
    for (const SourceFile& file : source.files) {
      names.push_back(file.name.c_str());
      buffers.push_back(reinterpret_cast<char*>(const_cast<std::byte*>(file.bytes.data())));
      sizes.push_back(file.bytes.size());
    }
    if (names.empty()) return {};
    return checked(api, api.AddExternalInitializersFromFilesInMemory(options, names.data(), buffers.data(),
                                                                     sizes.data(), names.size()));
  }

  const Library& library_;
  int threads_;
  SessionHandle session_;
  MemoryInfoHandle memory_;
  std::optional<RunResult> result_;
  ReservedOutputs reserved_;
  std::optional<MemoryFile> optimized_;
};

class NativeRuntime final : public peer::Runtime {
 public:
  [[nodiscard]] Availability available() const override {
    const LoadedLibrary loaded = library();
    if (!loaded.ok()) return {false, loaded.error().message};
    return {true, fmt::format("ONNX Runtime {}", peer_info().version)};
  }

  [[nodiscard]] std::string hides_rewritten() const override { return {}; }
  [[nodiscard]] std::string lacks(DType /*dtype*/) const override { return {}; }

  [[nodiscard]] Result<std::unique_ptr<RuntimeModel>> create(const CreateRequest& request) const override {
    DRIFTSCOPE_TRY(const Library* const loaded,
                   library(peer::release_to_fetch(peer_info(), request.options)));
    auto model = std::make_unique<NativeModel>(*loaded, request.threads);
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
