#include "unit/support/allocation_watch.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> largest_request{0};

void note(std::size_t size) {
  std::size_t known = largest_request.load(std::memory_order_relaxed);
  while (size > known && !largest_request.compare_exchange_weak(known, size)) {
  }
}

void* allocate(std::size_t size) noexcept {
  note(size);
  return std::malloc(size == 0 ? 1 : size);
}

void* allocate(std::size_t size, std::align_val_t alignment) noexcept {
  note(size);
  const auto step = static_cast<std::size_t>(alignment);
  if (size > SIZE_MAX - step) return nullptr;
  return std::aligned_alloc(step, (size / step + 1) * step);
}

template <class... Alignment>
void* allocate_or_throw(std::size_t size, Alignment... alignment) {
  void* memory = allocate(size, alignment...);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// Every form, even those whose defaults would call another: sanitizers provide their own of each.
void* operator new(std::size_t n) { return allocate_or_throw(n); }
void* operator new[](std::size_t n) { return allocate_or_throw(n); }
void* operator new(std::size_t n, std::align_val_t a) { return allocate_or_throw(n, a); }
void* operator new[](std::size_t n, std::align_val_t a) { return allocate_or_throw(n, a); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return allocate(n); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return allocate(n); }
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(n, a);
}
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(n, a);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept { std::free(p); }

namespace driftscope::test {

AllocationWatch::AllocationWatch() { largest_request = 0; }

std::size_t AllocationWatch::largest() const { return largest_request; }

}  // namespace driftscope::test
