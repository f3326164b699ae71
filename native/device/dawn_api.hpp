// The part of webgpu.h's C interface that Driftscope uses, as Dawn's library of the pinned npm package has it
// (package.json): there is no header for it among the packages. Names and order of fields are those of
// webgpu.h; structs that the library fills end in room for fields that a later version adds. Client:
// dawn_device.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace driftscope::gpu::dawn {

struct InstanceImpl;
struct AdapterImpl;
struct DeviceImpl;
struct QueueImpl;
struct BufferImpl;
struct ShaderModuleImpl;
struct ComputePipelineImpl;
struct BindGroupLayoutImpl;
struct BindGroupImpl;
struct CommandEncoderImpl;
struct CommandBufferImpl;
struct ComputePassEncoderImpl;
struct QuerySetImpl;

using Bool = std::uint32_t;
using Flags = std::uint64_t;

inline constexpr std::uint32_t undefined_u32 = 0xffffffffu;
inline constexpr std::uint64_t undefined_u64 = ~std::uint64_t{0};
inline constexpr std::size_t null_terminated = ~std::size_t{0};  // WGPU_STRLEN

inline constexpr std::uint32_t success = 1;  // of every status
inline constexpr std::uint32_t allow_process_events = 2;
inline constexpr std::uint32_t high_performance = 2;
inline constexpr std::uint32_t core_level = 2;
inline constexpr std::uint32_t adapter_type_cpu = 3;
inline constexpr std::uint32_t shader_source_wgsl = 2;
inline constexpr std::uint32_t dawn_toggles_descriptor = 0x0005000A;
inline constexpr std::uint32_t timestamp_query = 3;
inline constexpr std::uint32_t query_type_timestamp = 2;
inline constexpr Flags map_read = 0x1;  // buffer usage and map mode
inline constexpr Flags copy_source = 0x4;
inline constexpr Flags copy_target = 0x8;
inline constexpr Flags storage = 0x80;
inline constexpr Flags query_resolve = 0x200;

struct StringView {
  const char* data = nullptr;
  std::size_t length = null_terminated;
};
struct ChainedStruct {
  ChainedStruct* next = nullptr;
  std::uint32_t type = 0;
};
struct Future {
  std::uint64_t id = 0;
};

template <class Callback>
struct CallbackInfo {
  ChainedStruct* next = nullptr;
  std::uint32_t mode = allow_process_events;
  Callback callback = nullptr;
  void* userdata1 = nullptr;
  void* userdata2 = nullptr;
};
using AdapterCallback = void (*)(std::uint32_t status, AdapterImpl*, StringView message, void*, void*);
using DeviceCallback = void (*)(std::uint32_t status, DeviceImpl*, StringView message, void*, void*);
using MapCallback = void (*)(std::uint32_t status, StringView message, void*, void*);
using PipelineCallback = void (*)(std::uint32_t status, ComputePipelineImpl*, StringView message, void*,
                                  void*);
using LostCallback = void (*)(DeviceImpl* const*, std::uint32_t reason, StringView message, void*, void*);
using ErrorCallback = void (*)(DeviceImpl* const*, std::uint32_t type, StringView message, void*, void*);
using AdapterCallbackInfo = CallbackInfo<AdapterCallback>;
using DeviceCallbackInfo = CallbackInfo<DeviceCallback>;
using MapCallbackInfo = CallbackInfo<MapCallback>;
using PipelineCallbackInfo = CallbackInfo<PipelineCallback>;
using LostCallbackInfo = CallbackInfo<LostCallback>;
struct ErrorCallbackInfo {  // has no mode
  ChainedStruct* next = nullptr;
  ErrorCallback callback = nullptr;
  void* userdata1 = nullptr;
  void* userdata2 = nullptr;
};

struct AdapterOptions {
  ChainedStruct* next = nullptr;
  std::uint32_t feature_level = core_level;
  std::uint32_t power_preference = high_performance;
  Bool force_fallback_adapter = 0;
  std::uint32_t backend_type = 0;
  void* compatible_surface = nullptr;
};

struct AdapterInfo {
  ChainedStruct* next = nullptr;
  StringView vendor = {};
  StringView architecture = {};
  StringView device = {};
  StringView description = {};
  std::uint32_t backend_type = 0;
  std::uint32_t adapter_type = 0;
  std::uint32_t vendor_id = 0;
  std::uint32_t device_id = 0;
  std::uint32_t subgroup_min_size = 0;
  std::uint32_t subgroup_max_size = 0;
  std::uint64_t later[8] = {};
};

struct Limits {
  ChainedStruct* next = nullptr;
  std::uint32_t max_texture_dimension_1d = undefined_u32;
  std::uint32_t max_texture_dimension_2d = undefined_u32;
  std::uint32_t max_texture_dimension_3d = undefined_u32;
  std::uint32_t max_texture_array_layers = undefined_u32;
  std::uint32_t max_bind_groups = undefined_u32;
  std::uint32_t max_bind_groups_plus_vertex_buffers = undefined_u32;
  std::uint32_t max_bindings_per_bind_group = undefined_u32;
  std::uint32_t max_dynamic_uniform_buffers = undefined_u32;
  std::uint32_t max_dynamic_storage_buffers = undefined_u32;
  std::uint32_t max_sampled_textures = undefined_u32;
  std::uint32_t max_samplers = undefined_u32;
  std::uint32_t max_storage_buffers = undefined_u32;
  std::uint32_t max_storage_textures = undefined_u32;
  std::uint32_t max_uniform_buffers = undefined_u32;
  std::uint64_t max_uniform_buffer_binding_size = undefined_u64;
  std::uint64_t max_storage_buffer_binding_size = undefined_u64;
  std::uint32_t min_uniform_buffer_offset_alignment = undefined_u32;
  std::uint32_t min_storage_buffer_offset_alignment = undefined_u32;
  std::uint32_t max_vertex_buffers = undefined_u32;
  std::uint64_t max_buffer_size = undefined_u64;
  std::uint32_t max_vertex_attributes = undefined_u32;
  std::uint32_t max_vertex_buffer_array_stride = undefined_u32;
  std::uint32_t max_inter_stage_shader_variables = undefined_u32;
  std::uint32_t max_color_attachments = undefined_u32;
  std::uint32_t max_color_attachment_bytes_per_sample = undefined_u32;
  std::uint32_t max_compute_workgroup_storage_size = undefined_u32;
  std::uint32_t max_compute_invocations_per_workgroup = undefined_u32;
  std::uint32_t max_compute_workgroup_size_x = undefined_u32;
  std::uint32_t max_compute_workgroup_size_y = undefined_u32;
  std::uint32_t max_compute_workgroup_size_z = undefined_u32;
  std::uint32_t max_compute_workgroups_per_dimension = undefined_u32;
  std::uint32_t later[16] = {undefined_u32, undefined_u32, undefined_u32, undefined_u32,
                             undefined_u32, undefined_u32, undefined_u32, undefined_u32,
                             undefined_u32, undefined_u32, undefined_u32, undefined_u32,
                             undefined_u32, undefined_u32, undefined_u32, undefined_u32};
};

struct QueueDescriptor {
  ChainedStruct* next = nullptr;
  StringView label = {};
};
struct DeviceDescriptor {
  ChainedStruct* next = nullptr;
  StringView label = {};
  std::size_t required_feature_count = 0;
  const std::uint32_t* required_features = nullptr;
  const Limits* required_limits = nullptr;
  QueueDescriptor default_queue = {};
  LostCallbackInfo lost = {};
  ErrorCallbackInfo error = {};
};
struct TogglesDescriptor {
  ChainedStruct chain = {nullptr, dawn_toggles_descriptor};
  std::size_t enabled_count = 0;
  const char* const* enabled = nullptr;
  std::size_t disabled_count = 0;
  const char* const* disabled = nullptr;
};

struct BufferDescriptor {
  ChainedStruct* next = nullptr;
  StringView label = {};
  Flags usage = 0;
  std::uint64_t size = 0;
  Bool mapped_at_creation = 0;
};
struct ShaderSourceWgsl {
  ChainedStruct chain = {nullptr, shader_source_wgsl};
  StringView code = {};
};
struct ShaderModuleDescriptor {
  ChainedStruct* next = nullptr;
  StringView label = {};
};
struct ComputeState {
  ChainedStruct* next = nullptr;
  ShaderModuleImpl* module = nullptr;
  StringView entry_point = {};
  std::size_t constant_count = 0;
  const void* constants = nullptr;
};
struct ComputePipelineDescriptor {
  ChainedStruct* next = nullptr;
  StringView label = {};
  void* layout = nullptr;  // as the shader declares it
  ComputeState compute = {};
};
struct BindGroupEntry {
  ChainedStruct* next = nullptr;
  std::uint32_t binding = 0;
  BufferImpl* buffer = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t size = undefined_u64;
  void* sampler = nullptr;
  void* texture_view = nullptr;
};
struct BindGroupDescriptor {
  ChainedStruct* next = nullptr;
  StringView label = {};
  BindGroupLayoutImpl* layout = nullptr;
  std::size_t entry_count = 0;
  const BindGroupEntry* entries = nullptr;
};
struct PassTimestampWrites {
  ChainedStruct* next = nullptr;
  QuerySetImpl* query_set = nullptr;
  std::uint32_t begin_index = undefined_u32;
  std::uint32_t end_index = undefined_u32;
};
struct ComputePassDescriptor {
  ChainedStruct* next = nullptr;
  StringView label = {};
  const PassTimestampWrites* timestamps = nullptr;
};
struct QuerySetDescriptor {
  ChainedStruct* next = nullptr;
  StringView label = {};
  std::uint32_t type = query_type_timestamp;
  std::uint32_t count = 0;
};

/// The functions, by their names in the library without "wgpu".
struct Functions {
  InstanceImpl* (*CreateInstance)(const void*);
  void (*InstanceProcessEvents)(InstanceImpl*);
  Future (*InstanceRequestAdapter)(InstanceImpl*, const AdapterOptions*, AdapterCallbackInfo);
  std::uint32_t (*AdapterGetInfo)(AdapterImpl*, AdapterInfo*);
  void (*AdapterInfoFreeMembers)(AdapterInfo);
  std::uint32_t (*AdapterGetLimits)(AdapterImpl*, Limits*);
  Bool (*AdapterHasFeature)(AdapterImpl*, std::uint32_t);
  Future (*AdapterRequestDevice)(AdapterImpl*, const DeviceDescriptor*, DeviceCallbackInfo);
  void (*AdapterRelease)(AdapterImpl*);
  QueueImpl* (*DeviceGetQueue)(DeviceImpl*);
  BufferImpl* (*DeviceCreateBuffer)(DeviceImpl*, const BufferDescriptor*);
  ShaderModuleImpl* (*DeviceCreateShaderModule)(DeviceImpl*, const ShaderModuleDescriptor*);
  Future (*DeviceCreateComputePipelineAsync)(DeviceImpl*, const ComputePipelineDescriptor*,
                                             PipelineCallbackInfo);
  BindGroupImpl* (*DeviceCreateBindGroup)(DeviceImpl*, const BindGroupDescriptor*);
  CommandEncoderImpl* (*DeviceCreateCommandEncoder)(DeviceImpl*, const void*);
  QuerySetImpl* (*DeviceCreateQuerySet)(DeviceImpl*, const QuerySetDescriptor*);
  void (*DeviceDestroy)(DeviceImpl*);
  void (*DeviceRelease)(DeviceImpl*);
  Future (*BufferMapAsync)(BufferImpl*, Flags, std::size_t, std::size_t, MapCallbackInfo);
  const void* (*BufferGetConstMappedRange)(BufferImpl*, std::size_t, std::size_t);
  void (*BufferUnmap)(BufferImpl*);
  void (*BufferDestroy)(BufferImpl*);
  void (*BufferRelease)(BufferImpl*);
  void (*ShaderModuleRelease)(ShaderModuleImpl*);
  BindGroupLayoutImpl* (*ComputePipelineGetBindGroupLayout)(ComputePipelineImpl*, std::uint32_t);
  void (*ComputePipelineRelease)(ComputePipelineImpl*);
  void (*BindGroupLayoutRelease)(BindGroupLayoutImpl*);
  void (*BindGroupRelease)(BindGroupImpl*);
  ComputePassEncoderImpl* (*CommandEncoderBeginComputePass)(CommandEncoderImpl*,
                                                            const ComputePassDescriptor*);
  void (*CommandEncoderCopyBufferToBuffer)(CommandEncoderImpl*, BufferImpl*, std::uint64_t, BufferImpl*,
                                           std::uint64_t, std::uint64_t);
  void (*CommandEncoderResolveQuerySet)(CommandEncoderImpl*, QuerySetImpl*, std::uint32_t, std::uint32_t,
                                        BufferImpl*, std::uint64_t);
  CommandBufferImpl* (*CommandEncoderFinish)(CommandEncoderImpl*, const void*);
  void (*CommandEncoderRelease)(CommandEncoderImpl*);
  void (*CommandBufferRelease)(CommandBufferImpl*);
  void (*ComputePassEncoderSetPipeline)(ComputePassEncoderImpl*, ComputePipelineImpl*);
  void (*ComputePassEncoderSetBindGroup)(ComputePassEncoderImpl*, std::uint32_t, BindGroupImpl*, std::size_t,
                                         const std::uint32_t*);
  void (*ComputePassEncoderDispatchWorkgroups)(ComputePassEncoderImpl*, std::uint32_t, std::uint32_t,
                                               std::uint32_t);
  void (*ComputePassEncoderEnd)(ComputePassEncoderImpl*);
  void (*ComputePassEncoderRelease)(ComputePassEncoderImpl*);
  void (*QueueWriteBuffer)(QueueImpl*, BufferImpl*, std::uint64_t, const void*, std::size_t);
  void (*QueueSubmit)(QueueImpl*, std::size_t, CommandBufferImpl* const*);
  void (*QueueRelease)(QueueImpl*);
  void (*QuerySetRelease)(QuerySetImpl*);
};

}  // namespace driftscope::gpu::dawn
