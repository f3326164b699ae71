// A WebGL-like device on the PC: OpenGL ES 3.0 on EGL, without a window. Objects are texture arrays of four
// float32 a texel, programs are fragment shaders, a dispatch is one draw into all layers of a texture.
#include <GLES3/gl3.h>

#include <GLES2/gl2ext.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <vector>

#include "core/device/device.hpp"
#include "core/device/texture_extent.hpp"
#include "native/device/gles_context.hpp"
#include "native/device/gles_library.hpp"

namespace driftscope::gpu::gles {
namespace {

class GlesDevice final : public Device {
 public:
  explicit GlesDevice(const Library& library) : context_(library), gl_(context_.gl()) {}

  Result<bool> ready() override {
    DRIFTSCOPE_CHECK(context_.state());
    if (to_compile_.empty()) return true;
    const Context::Current current(context_);
    Program& next = programs_.at(to_compile_.front());
    DRIFTSCOPE_TRY(next.program, context_.compile(next.label, next.code));
    next.code.clear();
    to_compile_.pop_front();
    return to_compile_.empty();
  }

  bool lost() const override { return context_.lost(); }
  void give_up() override { context_.give_up(); }
  const DeviceFacts& facts() const override { return context_.facts(); }

  Result<ObjectId> make_object(ObjectSize size, std::string_view label) override {
    DRIFTSCOPE_CHECK(context_.state());
    if (size.bytes <= 0 || size.bytes % 4 != 0 || size.layers < 1 || size.layers > max_layers)
      return internal_error(fmt::format("a texture of {} bytes was requested ({})", size.bytes, label));
    const TextureExtent extent = object_extent(size.bytes, size.layers);
    if (extent.width > context_.max_side() || extent.height > context_.max_side())
      return limit_error(fmt::format("{} needs a texture of {} x {} texels; {} allows {} x {}", label,
                                     extent.width, extent.height, facts().name, context_.max_side(),
                                     context_.max_side()));
    const Context::Current current(context_);
    Object object;
    object.layers = size.layers;
    object.bytes = extent.width * extent.height * size.layers * texel_bytes;
    gl_.GenTextures(1, &object.texture);
    gl_.BindTexture(GL_TEXTURE_2D_ARRAY, object.texture);
    gl_.TexParameteri(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    gl_.TexParameteri(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    gl_.TexStorage3D(GL_TEXTURE_2D_ARRAY, 1, GL_RGBA32F, static_cast<GLsizei>(extent.width),
                     static_cast<GLsizei>(extent.height), size.layers);
    if (gl_.GetError() != GL_NO_ERROR) {
      gl_.DeleteTextures(1, &object.texture);
      DRIFTSCOPE_CHECK(context_.still_there());
      return limit_error(fmt::format("{}: {} has no memory for {} bytes", label, facts().name, object.bytes));
    }
    memory_ += object.bytes;
    objects_[++last_object_] = object;
    return last_object_;
  }

  void release_object(ObjectId id) override {
    const auto found = objects_.find(id);
    if (found == objects_.end()) return;
    const Context::Current current(context_);
    memory_ -= found->second.bytes;
    gl_.DeleteTextures(1, &found->second.texture);
    if (found->second.frame != 0) gl_.DeleteFramebuffers(1, &found->second.frame);
    objects_.erase(found);
  }

  Status write(ObjectId id, std::span<const std::byte> bytes, std::int64_t layer_bytes) override {
    DRIFTSCOPE_CHECK(context_.state());
    const auto found = objects_.find(id);
    if (found == objects_.end() || layer_bytes <= 0 || layer_bytes % texel_bytes != 0 ||
        bytes.size() % 4 != 0 || std::ssize(bytes) > layer_bytes * found->second.layers)
      return internal_error(fmt::format("{} bytes do not fit into texture {}", bytes.size(), id));
    const Context::Current current(context_);
    gl_.BindTexture(GL_TEXTURE_2D_ARRAY, found->second.texture);
    const auto width = row_texels(layer_bytes);
    for (int layer = 0; layer < found->second.layers && layer * layer_bytes < std::ssize(bytes); ++layer) {
      const auto begin = static_cast<std::size_t>(layer * layer_bytes);
      write_layer(bytes.subspan(begin, std::min(bytes.size() - begin, static_cast<std::size_t>(layer_bytes))),
                  layer, width);
    }
    return context_.checked("writing a texture");
  }

  ProgramId make_program(std::string_view label, std::string_view code) override {
    const auto known = by_code_.find(code);
    if (known != by_code_.end()) return known->second;
    const ProgramId id = ++last_program_;
    by_code_.emplace(code, id);
    programs_[id] = {std::string(label), std::string(code), 0};
    to_compile_.push_back(id);
    return id;
  }

  ProgramCounts program_counts() const override {
    const auto asked = static_cast<std::int64_t>(programs_.size());
    return {asked, asked - static_cast<std::int64_t>(to_compile_.size())};
  }

  Result<RecordingId> record(std::vector<Command> commands, bool timed) override {
    DRIFTSCOPE_CHECK(context_.state());
    const Context::Current current(context_);
    Recording made;
    for (Command& command : commands) {
      made.groups = std::max(made.groups, command.timed_as + 1);
      if (command.dispatch)
        DRIFTSCOPE_CHECK(check(*command.dispatch));
      else if (!objects_.contains(command.copy.object) || command.copy.layer_bytes % texel_bytes != 0 ||
               command.copy.layer_bytes <= 0)
        return internal_error("a texture to read back does not exist");
      else
        made.bytes = std::max(made.bytes, command.copy.offset + command.copy.bytes);
    }
    made.commands = std::move(commands);
    if (timed && facts().timestamps) {
      made.queries.resize(made.groups);
      gl_.GenQueries(static_cast<GLsizei>(made.groups), made.queries.data());
    }
    made.staging_bytes = made.bytes > 0 ? (made.bytes + 2 * texel_bytes - 1) / texel_bytes * texel_bytes : 0;
    if (made.staging_bytes > 0) {
      gl_.GenBuffers(1, &made.staging);
      gl_.BindBuffer(GL_PIXEL_PACK_BUFFER, made.staging);
      gl_.BufferData(GL_PIXEL_PACK_BUFFER, made.staging_bytes, nullptr, GL_STREAM_READ);
      gl_.BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    }
    DRIFTSCOPE_CHECK(context_.checked("allocating the readback buffer"));
    memory_ += made.staging_bytes;
    recordings_.emplace(++last_recording_, std::move(made));
    return last_recording_;
  }

  void release_recording(RecordingId id) override {
    const auto found = recordings_.find(id);
    if (found == recordings_.end()) return;
    const Context::Current current(context_);
    Recording& it = found->second;
    if (it.fence != nullptr) gl_.DeleteSync(it.fence);
    if (it.staging != 0) gl_.DeleteBuffers(1, &it.staging);
    if (!it.queries.empty()) gl_.DeleteQueries(static_cast<GLsizei>(it.queries.size()), it.queries.data());
    memory_ -= it.staging_bytes;
    recordings_.erase(found);
  }

  Status submit(RecordingId id) override {
    DRIFTSCOPE_CHECK(context_.state());
    const Context::Current current(context_);
    Recording& it = recordings_.at(id);
    it.ran.assign(it.groups, false);
    bool timing = false;
    std::uint32_t timed_as = 0;
    const auto end_timing = [&] {
      if (timing) gl_.EndQuery(GL_TIME_ELAPSED_EXT);
      timing = false;
    };
    for (const Command& command : it.commands) {
      if (!command.dispatch) {
        end_timing();
        copy_back(command.copy, it.staging);
        continue;
      }
      if (timing && timed_as != command.timed_as) end_timing();
      if (!it.queries.empty() && !it.ran[command.timed_as]) {
        gl_.BeginQuery(GL_TIME_ELAPSED_EXT, it.queries[command.timed_as]);
        timing = true;
        timed_as = command.timed_as;
        it.ran[timed_as] = true;
      }
      draw(*command.dispatch);
    }
    end_timing();
    if (it.fence != nullptr) gl_.DeleteSync(it.fence);
    it.fence = gl_.FenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl_.Flush();
    return context_.checked("drawing");
  }

  Result<std::optional<Finished>> finished(RecordingId id) override {
    DRIFTSCOPE_CHECK(context_.state());
    Recording& it = recordings_.at(id);
    Finished result;
    {
      const Context::Current current(context_);
      if (it.fence != nullptr) {
        const GLenum now = gl_.ClientWaitSync(it.fence, GL_SYNC_FLUSH_COMMANDS_BIT, 1'000'000);
        DRIFTSCOPE_CHECK(context_.still_there());
        if (now == GL_TIMEOUT_EXPIRED) return std::optional<Finished>();
        gl_.DeleteSync(it.fence);
        it.fence = nullptr;
      }
      for (std::size_t i = 0; i < it.queries.size(); ++i) {
        GLuint time = 0;
        if (it.ran[i]) gl_.GetQueryObjectuiv(it.queries[i], GL_QUERY_RESULT, &time);
        result.times_ns.push_back(time);
      }
      DRIFTSCOPE_CHECK(context_.checked("waiting for the drawing"));
    }
    return std::optional<Finished>(std::move(result));
  }

  Status read(RecordingId id, std::int64_t offset, std::span<std::byte> target) override {
    DRIFTSCOPE_CHECK(context_.state());
    const Recording& it = recordings_.at(id);
    if (offset < 0 || offset + std::ssize(target) > it.bytes)
      return internal_error("the readback did not arrive");
    if (target.empty()) return {};
    const Context::Current current(context_);
    gl_.BindBuffer(GL_PIXEL_PACK_BUFFER, it.staging);
    const void* from = gl_.MapBufferRange(GL_PIXEL_PACK_BUFFER, offset, std::ssize(target), GL_MAP_READ_BIT);
    if (from != nullptr) std::memcpy(target.data(), from, target.size());
    gl_.UnmapBuffer(GL_PIXEL_PACK_BUFFER);
    gl_.BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    return from == nullptr ? internal_error("OpenGL ES gives no access to the readback") : Status();
  }

  std::int64_t memory() const override { return memory_; }

 private:
  struct Object {
    GLuint texture = 0;
    GLuint frame = 0;  // made when it is first drawn into or comes back
    int layers = 1;
    std::int64_t bytes = 0;
  };
  struct Program {
    std::string label;
    std::string code;
    GLuint program = 0;
  };
  struct Recording {
    std::vector<Command> commands;
    std::vector<GLuint> queries = {};  // by time
    std::vector<bool> ran = {};
    std::uint32_t groups = 0;
    std::int64_t bytes = 0;
    std::int64_t staging_bytes = 0;
    GLuint staging = 0;
    GLsync fence = nullptr;
  };

  Status check(const Dispatch& dispatch) {
    const auto program = programs_.find(dispatch.program);
    if (program == programs_.end() || program->second.program == 0)
      return internal_error("a program is recorded before it is compiled");
    for (const Binding& binding : dispatch.bindings) {
      const auto object = objects_.find(binding.object);
      if (object == objects_.end()) return internal_error("a bound texture does not exist");
      if (binding.written) DRIFTSCOPE_CHECK(frame_of(object->second));
    }
    for (std::size_t i = 0; i < 2; ++i)
      if (dispatch.groups[i] == 0 || dispatch.groups[i] > facts().max_groups)
        return limit_error(fmt::format("{}: {} texels in one direction; {} allows {}", program->second.label,
                                       dispatch.groups[i], facts().name, facts().max_groups));
    return {};
  }

  Status frame_of(Object& object) {
    if (object.frame != 0) return {};
    gl_.GenFramebuffers(1, &object.frame);
    gl_.BindFramebuffer(GL_FRAMEBUFFER, object.frame);
    GLenum buffers[max_layers];
    for (int layer = 0; layer < object.layers; ++layer) {
      buffers[layer] = GL_COLOR_ATTACHMENT0 + static_cast<GLenum>(layer);
      gl_.FramebufferTextureLayer(GL_FRAMEBUFFER, buffers[layer], object.texture, 0, layer);
    }
    gl_.DrawBuffers(object.layers, buffers);
    if (gl_.CheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
      return internal_error(
          fmt::format("{} cannot draw into {} layers of float32", facts().name, object.layers));
    return {};
  }

  void draw(const Dispatch& dispatch) {
    gl_.UseProgram(programs_.at(dispatch.program).program);
    GLenum unit = GL_TEXTURE0;
    for (const Binding& binding : dispatch.bindings) {
      const Object& object = objects_.at(binding.object);
      if (binding.written) {
        gl_.BindFramebuffer(GL_FRAMEBUFFER, object.frame);
      } else {
        gl_.ActiveTexture(unit++);
        gl_.BindTexture(GL_TEXTURE_2D_ARRAY, object.texture);
      }
    }
    gl_.Viewport(0, 0, static_cast<GLsizei>(dispatch.groups[0]), static_cast<GLsizei>(dispatch.groups[1]));
    gl_.DrawArrays(GL_TRIANGLES, 0, 3);
  }

  // Whole rows, then the rest of the last one; later copies write over what is beyond it.
  void copy_back(const CopyBack& copy, GLuint staging) {
    Object& object = objects_.at(copy.object);
    if (!frame_of(object).ok()) return;
    gl_.BindFramebuffer(GL_FRAMEBUFFER, object.frame);
    gl_.BindBuffer(GL_PIXEL_PACK_BUFFER, staging);
    const std::int64_t width = row_texels(copy.layer_bytes);
    for (int layer = 0; layer < object.layers && layer * copy.layer_bytes < copy.bytes; ++layer) {
      const std::int64_t begin = layer * copy.layer_bytes;
      const std::int64_t texels =
          (std::min(copy.bytes - begin, copy.layer_bytes) + texel_bytes - 1) / texel_bytes;
      gl_.ReadBuffer(GL_COLOR_ATTACHMENT0 + static_cast<GLenum>(layer));
      const auto rows = static_cast<GLsizei>(texels / width);
      const auto rest = static_cast<GLsizei>(texels % width);
      const auto place = [&](std::int64_t texel) {
        return reinterpret_cast<void*>(copy.offset + begin + texel * texel_bytes);
      };
      if (rows > 0) gl_.ReadPixels(0, 0, static_cast<GLsizei>(width), rows, GL_RGBA, GL_FLOAT, place(0));
      if (rest > 0) gl_.ReadPixels(0, rows, rest, 1, GL_RGBA, GL_FLOAT, place(rows * width));
    }
    gl_.BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  }

  void write_layer(std::span<const std::byte> bytes, int layer, std::int64_t width) {
    const std::int64_t row_bytes = width * texel_bytes;
    const auto rows = static_cast<GLsizei>(std::ssize(bytes) / row_bytes);
    if (rows > 0)
      gl_.TexSubImage3D(GL_TEXTURE_2D_ARRAY, 0, 0, 0, layer, static_cast<GLsizei>(width), rows, 1, GL_RGBA,
                        GL_FLOAT, bytes.data());
    const auto rest = bytes.subspan(static_cast<std::size_t>(rows * row_bytes));
    if (rest.empty()) return;
    std::vector<std::byte> whole((rest.size() + texel_bytes - 1) / texel_bytes * texel_bytes);
    std::memcpy(whole.data(), rest.data(), rest.size());
    gl_.TexSubImage3D(GL_TEXTURE_2D_ARRAY, 0, 0, rows, layer,
                      static_cast<GLsizei>(whole.size() / texel_bytes), 1, 1, GL_RGBA, GL_FLOAT,
                      whole.data());
  }

  Context context_;
  const Functions& gl_;
  std::int64_t memory_ = 0;
  ObjectId last_object_ = no_id;
  ProgramId last_program_ = no_id;
  RecordingId last_recording_ = no_id;
  std::map<ObjectId, Object> objects_;
  std::map<ProgramId, Program> programs_;
  std::deque<ProgramId> to_compile_;
  std::map<std::string, ProgramId, std::less<>> by_code_;
  std::map<RecordingId, Recording> recordings_;
};

}  // namespace

Result<std::shared_ptr<Device>> open() {
  const auto& loaded = library();
  if (!loaded.ok()) return loaded.error();
  auto device = std::make_shared<GlesDevice>(*loaded);
  return std::shared_ptr<Device>(std::move(device));
}

}  // namespace driftscope::gpu::gles
