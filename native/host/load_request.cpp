#include "native/host/load_request.hpp"

#include <algorithm>

namespace driftscope {

void LoadRequest::read(std::uint64_t offset, std::span<std::byte> target) const {
  for (const SharedBytes& part : outside) {
    if (offset >= part.size()) {
      offset -= part.size();
      continue;
    }
    const auto at = static_cast<std::size_t>(offset);
    const std::size_t count = std::min(part.size() - at, target.size());
    if (count == 0) return;
    part.source().read(at, target.first(count));
    target = target.subspan(count);
    offset = 0;
  }
}

std::shared_ptr<const std::byte> LoadRequest::in_place(std::uint64_t offset, std::uint64_t count,
                                                       std::size_t behind) const {
  for (const SharedBytes& part : outside) {
    if (offset < part.size() || (offset == 0 && count == 0))
      return count <= part.size() - offset ? part.source().in_place(offset, count, behind) : nullptr;
    offset -= part.size();
  }
  return nullptr;
}

LoadRequest load_request(const ModelFile& model, const Target& target) {
  LoadRequest request;
  request.outside.push_back(model.bytes);
  std::size_t size = model.bytes.size();
  std::vector<messages::Attachment> attachments;
  for (const JobAttachment& file : model.attachments) {
    attachments.push_back({file.location, static_cast<std::int64_t>(file.bytes.size())});
    request.outside.push_back(file.bytes);
    size += file.bytes.size();
  }
  request.head = {.target = target.text(),
                  .attachments = std::move(attachments),
                  .once = true,
                  .outside = static_cast<std::int64_t>(size),
                  .unhashed = true};
  return request;
}

}  // namespace driftscope
