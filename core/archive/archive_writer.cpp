#include "core/archive/archive_writer.hpp"

#include <fmt/format.h>
#include <zip.h>
#include <zlib.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/archive/member_name.hpp"

namespace driftscope {

struct ArchiveWriter::State {
  explicit State(ArchiveOutput& to) : output(to) {}

  ArchiveOutput& output;
  std::optional<Error> error;  // the output's first: minizip only says that there was one
  std::uint64_t size = 0;
  std::uint64_t place = 0;
  zipFile zip = nullptr;
  bool in_member = false;
};

namespace {

template <class State>
zlib_filefunc64_def functions_of(State& state) {
  zlib_filefunc64_def functions{};
  functions.opaque = &state;
  functions.zopen64_file = [](void* opaque, const void*, int) { return opaque; };
  functions.zread_file = [](void*, void*, void*, uLong) { return uLong{0}; };
  functions.zwrite_file = [](void*, void* stream, const void* source, uLong count) {
    auto& to = *static_cast<State*>(stream);
    const std::span bytes(static_cast<const std::byte*>(source), count);
    if (to.error) return uLong{0};
    const bool appends = to.place == to.size;
    if (!appends && count > to.size - to.place) return uLong{0};
    Status written = appends ? to.output.append(bytes) : to.output.write_at(to.place, bytes);
    if (!written.ok()) {
      to.error = std::move(written).error();
      return uLong{0};
    }
    to.place += count;
    to.size = std::max(to.size, to.place);
    return count;
  };
  functions.ztell64_file = [](void*, void* stream) {
    return static_cast<ZPOS64_T>(static_cast<State*>(stream)->place);
  };
  functions.zseek64_file = [](void*, void* stream, ZPOS64_T offset, int origin) -> long {
    auto& in = *static_cast<State*>(stream);
    const std::uint64_t base = origin == ZLIB_FILEFUNC_SEEK_SET   ? 0
                               : origin == ZLIB_FILEFUNC_SEEK_CUR ? in.place
                                                                  : in.size;
    if (offset > in.size - base) return -1;
    in.place = base + offset;
    return 0;
  };
  functions.zclose_file = [](void*, void*) { return 0; };
  functions.zerror_file = [](void*, void*) { return 0; };
  return functions;
}

}  // namespace

ArchiveWriter::ArchiveWriter(ArchiveOutput& output) : state_(std::make_unique<State>(output)) {
  zlib_filefunc64_def functions = functions_of(*state_);
  state_->zip = zipOpen2_64("", APPEND_STATUS_CREATE, nullptr, &functions);
}

ArchiveWriter::~ArchiveWriter() {
  if (state_->zip != nullptr) zipClose(state_->zip, nullptr);
}

Error ArchiveWriter::failure(const char* what) const {
  return state_->error ? *state_->error : internal_error(fmt::format("the archive: {} failed", what));
}

Status ArchiveWriter::end_member() {
  if (!std::exchange(state_->in_member, false)) return {};
  if (zipCloseFileInZip(state_->zip) != ZIP_OK) return failure("ending a member");
  return {};
}

Status ArchiveWriter::begin(const std::string& name, Packing packing) {
  if (!is_member_name(name))
    return bad_input(
        fmt::format("'{}' cannot be the name of a member: expected a plain relative path", name));
  if (state_->zip == nullptr) return failure("beginning");
  DRIFTSCOPE_CHECK(end_member());
  zip_fileinfo info{};
  info.dosDate = 0x00210000;       // 1980-01-01, the earliest
  constexpr int always_zip64 = 1;  // its size is known only at the end
  constexpr uLong utf8_names = 1UL << 11;
  constexpr uLong made_on_unix = 3UL << 8 | 45;
  const bool deflated = packing == Packing::deflated;
  if (zipOpenNewFileInZip4_64(state_->zip, name.c_str(), &info, nullptr, 0, nullptr, 0, nullptr,
                              deflated ? Z_DEFLATED : 0, deflated ? Z_DEFAULT_COMPRESSION : 0, 0, -MAX_WBITS,
                              DEF_MEM_LEVEL, Z_DEFAULT_STRATEGY, nullptr, 0, made_on_unix, utf8_names,
                              always_zip64) != ZIP_OK)
    return failure("beginning a member");
  state_->in_member = true;
  return {};
}

Status ArchiveWriter::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t count = std::min<std::size_t>(bytes.size(), std::size_t{1} << 30);
    if (zipWriteInFileInZip(state_->zip, bytes.data(), static_cast<unsigned>(count)) != ZIP_OK)
      return failure("writing");
    bytes = bytes.subspan(count);
  }
  return {};
}

Status ArchiveWriter::add(const std::string& name, Packing packing, std::span<const std::byte> bytes) {
  DRIFTSCOPE_CHECK(begin(name, packing));
  return write(bytes);
}

Status ArchiveWriter::finish() {
  if (state_->zip == nullptr) return failure("finishing");
  DRIFTSCOPE_CHECK(end_member());
  const bool closed = zipClose(std::exchange(state_->zip, nullptr), nullptr) == ZIP_OK;
  if (!closed || state_->error) return failure("finishing");
  return {};
}

}  // namespace driftscope
