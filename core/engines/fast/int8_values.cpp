#include "core/engines/fast/int8_values.hpp"

namespace driftscope::fast {
namespace {

// int8 ↔ uint8 by flipping the highest bit: subtracts or adds 128.
class MoveBy128 final : public Step {
 public:
  MoveBy128(BufferId from, BufferId to, std::size_t count) : from_(from), to_(to), count_(count) {}
  Status bind(const Memory& memory) override {
    source_ = memory.at<const std::uint8_t>(from_);
    target_ = memory.at<std::uint8_t>(to_);
    return {};
  }
  Status run(Memory& /*memory*/) override {
    for (std::size_t i = 0; i < count_; ++i) target_[i] = static_cast<std::uint8_t>(source_[i] ^ 0x80u);
    return {};
  }

 private:
  BufferId from_;
  BufferId to_;
  std::size_t count_;
  const std::uint8_t* source_ = nullptr;
  std::uint8_t* target_ = nullptr;
};

void emit_move(Lowering& lowering, BufferId from, BufferId to, std::size_t count) {
  lowering.emit({.step = std::make_unique<MoveBy128>(from, to, count),
                 .reads = {from},
                 .writes = {to},
                 .in_place = from});
}

}  // namespace

Result<BufferId> read_int8(Lowering& lowering, ValueId id, Layout layout) {
  DRIFTSCOPE_TRY(const BufferId buffer, lowering.read(id, layout));
  if (lowering.value(id).dtype == DType::int8) return buffer;
  const auto count = static_cast<std::size_t>(element_count(lowering.shape(id)));
  const BufferId moved = lowering.scratch(count);
  // Not in place: other nodes may read the original value.
  lowering.emit(
      {.step = std::make_unique<MoveBy128>(buffer, moved, count), .reads = {buffer}, .writes = {moved}});
  return moved;
}

Int8Output write_int8(Lowering& lowering, ValueId id, Layout layout) {
  Int8Output output;
  output.value = output.buffer = lowering.write(id, layout);
  if (lowering.value(id).dtype == DType::uint8)
    output.buffer = lowering.scratch(static_cast<std::size_t>(element_count(lowering.shape(id))));
  return output;
}

void finish_int8(Lowering& lowering, const Int8Output& output) {
  if (output.buffer == output.value) return;
  emit_move(lowering, output.buffer, output.value,
            static_cast<std::size_t>(lowering.bytes_of(output.buffer)));
}

}  // namespace driftscope::fast
