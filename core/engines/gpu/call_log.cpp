// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/gpu/call_log.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/base64.hpp"
#include "core/base/json.hpp"
#include "core/device/texture_extent.hpp"

namespace driftscope::gpu {
namespace {

constexpr std::size_t longest = std::size_t{16} << 20;

std::string quoted(std::string_view text) { return json_text(nlohmann::json(text)); }

std::string quoted_bytes(std::span<const std::byte> bytes) {
  return '"' + base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()}) + '"';
}

/// A shader on lines of its own, where it needs no escapes.
std::string quoted_code(std::string_view code) {
  const bool plain =
      code.find_first_of("`\\") == std::string_view::npos && code.find("${") == std::string_view::npos;
  return plain ? fmt::format("`{}`", code) : quoted(code);
}

}  // namespace

void CallLog::begin_run() {
  run_.clear();
  runs_ = true;
}

void CallLog::add(const std::string& call) {
  too_long_ = too_long_ || prepared_.size() + run_.size() + call.size() > longest;
  if (!too_long_) (runs_ ? run_ : prepared_) += call;
}

Result<ObjectId> CallLog::make_object(ObjectSize size, std::string_view label) {
  DRIFTSCOPE_TRY(const ObjectId id, device_->make_object(size, label));
  if (api_ == Api::webgpu) {
    add(fmt::format("object({}, {}); // {}\n", id, size.bytes, label));
    return id;
  }
  const TextureExtent extent = object_extent(size.bytes, size.layers);
  add(fmt::format("object({}, {}, {}, {}); // {}\n", id, extent.width, extent.height, size.layers, label));
  return id;
}

Status CallLog::write(ObjectId object, std::span<const std::byte> bytes, std::int64_t layer_bytes) {
  if (bytes.size() > longest)
    too_long_ = true;
  else if (api_ == Api::webgpu)
    add(fmt::format("write({}, {});\n", object, quoted_bytes(bytes)));
  else
    add(fmt::format("write({}, {}, {}, {});\n", object, quoted_bytes(bytes), layer_bytes,
                    row_texels(layer_bytes)));
  return device_->write(object, bytes, layer_bytes);
}

ProgramId CallLog::make_program(std::string_view label, std::string_view code) {
  const ProgramId id = device_->make_program(label, code);
  if (programs_.insert(id).second)
    add(fmt::format("program({}, {}, {});\n", id, quoted(label), quoted_code(code)));
  return id;
}

Result<RecordingId> CallLog::record(std::vector<Command> commands, bool timed) {
  std::string calls;
  for (const Command& command : commands) {
    if (!command.dispatch) continue;  // text() brings back what is needed
    std::vector<ObjectId> read, written;
    for (const Binding& binding : command.dispatch->bindings)
      (binding.written ? written : read).push_back(binding.object);
    if (api_ == Api::webgpu) {
      read.clear();
      for (const Binding& binding : command.dispatch->bindings) read.push_back(binding.object);
      calls += fmt::format("dispatch({}, [{}], [{}]);\n", command.dispatch->program, fmt::join(read, ", "),
                           fmt::join(command.dispatch->groups, ", "));
    } else {
      calls += fmt::format("draw({}, [{}], {}, [{}, {}]);\n", command.dispatch->program,
                           fmt::join(read, ", "), written.empty() ? no_id : written.front(),
                           command.dispatch->groups[0], command.dispatch->groups[1]);
    }
  }
  DRIFTSCOPE_TRY(const RecordingId id, device_->record(std::move(commands), timed));
  recordings_[id] = std::move(calls);
  return id;
}

void CallLog::release_recording(RecordingId recording) {
  recordings_.erase(recording);
  device_->release_recording(recording);
}

Status CallLog::submit(RecordingId recording) {
  add(recordings_[recording]);
  return device_->submit(recording);
}

std::string CallLog::text(const Answer& answer) const {
  const auto places = std::as_bytes(answer.places);
  if (too_long_ || places.size() > longest) return {};
  std::string object = fmt::format("{}, {}", answer.copy.object, answer.copy.bytes);
  if (api_ == Api::webgl)
    object += fmt::format(", {}, {}", answer.copy.layer_bytes, row_texels(answer.copy.layer_bytes));
  return prepared_ + run_ +
         fmt::format("await answer(await bytesOf({}), \"{}\", {}{});\n", object, dtype_name(answer.dtype),
                     answer.elements, places.empty() ? "" : ", " + quoted_bytes(places));
}

}  // namespace driftscope::gpu
