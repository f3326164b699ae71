#include "native/peers/ort/output_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "native/os/unnamed_file.hpp"

namespace driftscope::ort {
namespace {

// In this time no more is written than a few values.
constexpr std::chrono::milliseconds interval{20};

}  // namespace

std::shared_ptr<OutputFile> OutputFile::make(std::size_t bytes) {
  auto file = open_unnamed_file();
  if (!file.ok()) return nullptr;
  // Reserved, not only made longer: a mapped page for which the disk has no room ends the program.
  if (::fallocate(file->get(), 0, 0, static_cast<off_t>(bytes)) != 0) return nullptr;
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->get(), 0);
  if (memory == MAP_FAILED) return nullptr;
  return std::shared_ptr<OutputFile>(
      new OutputFile(*std::move(file), static_cast<std::byte*>(memory), bytes));
}

OutputFile::OutputFile(FileDescriptor file, std::byte* memory, std::size_t bytes)
    : file_(std::move(file)),
      memory_(memory),
      bytes_(bytes),
      releaser_([this] { release_again_and_again(); }) {}

OutputFile::~OutputFile() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  releaser_.join();
  ::munmap(memory_, bytes_);
}

// Of a shared mapping nothing is lost: the pages belong to the file.
void OutputFile::release_again_and_again() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, interval, [this] { return over_; }))
    ::madvise(memory_, bytes_, MADV_DONTNEED);
}

}  // namespace driftscope::ort
