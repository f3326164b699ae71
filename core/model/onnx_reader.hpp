// Reads the bytes of an .onnx file (ModelProto) into a Model, on protozero, without generated code.
// Clients: the command line, the session service. It reads every opset and IR version 3 and
// later; whether operators are known is decided later, by graph/build and ops.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/base/byte_source.hpp"
#include "core/base/result.hpp"
#include "core/model/model.hpp"

namespace driftscope {

inline constexpr std::int64_t min_opset = 1;

/// Largest protobuf message, as protobuf itself has it; larger models keep weights as external data.
inline constexpr std::size_t max_protobuf_bytes = 0x7fffffff;

/// Finds exactly `length` bytes at `offset` of the external data file `location` (relative to the
/// model's folder). The reader has already rejected locations that leave the folder; the finder checks
/// the file's size. With Weights::deferred they are read later: the source keeps what it reads, or its owner
/// outlives the model.
using ExternalData =
    std::function<Result<ByteSource>(const std::string& location, std::int64_t offset, std::int64_t length)>;

/// A loader for places without files: any external data is an error that names the file.
[[nodiscard]] ExternalData no_external_data();

[[nodiscard]] Result<Model> read_onnx(std::span<const std::byte> bytes,
                                      const ExternalData& external_data = no_external_data());

/// How the data of large initializers in a ByteSource is read. `deferred`: on first use of the tensor, so
/// the source must outlive it.
enum class Weights { in_memory, deferred };

/// Whether the model is hashed; `none` is for callers that hash it themselves, in parallel with other work.
enum class Hash { sha256, none };

/// The same for a model that is not in memory: only its tensors are, and small pieces of the rest.
[[nodiscard]] Result<Model> read_onnx(const ByteSource& source,
                                      const ExternalData& external_data = no_external_data(),
                                      Weights weights = Weights::in_memory, Hash hash = Hash::sha256);

/// Reads one serialized TensorProto (the .pb files of ONNX test data sets).
[[nodiscard]] Result<NamedTensor> read_tensor_proto(std::span<const std::byte> bytes);

}  // namespace driftscope
