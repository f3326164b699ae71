// The store of a campaign as a file to which lines are only ever added (core/campaign/store_format.hpp),
// locked while it is open. Clients: commands that can be resumed. What was in the file stays there, whatever
// goes wrong.
#pragma once

#include <chrono>
#include <filesystem>

#include "core/campaign/store_format.hpp"
#include "native/os/file_descriptor.hpp"

namespace driftscope {

class FileStore final : public CampaignStore {
 public:
  /// Begins the file, or goes on with it: a last line that was cut is removed. Errors, with what to do: it is
  /// in use, it is the store of something else, it is damaged, it cannot be written.
  [[nodiscard]] static Result<FileStore> open(const std::filesystem::path& path,
                                              const CampaignDefinition& definition);
  FileStore(FileStore&&) = default;
  FileStore& operator=(FileStore&&) = delete;
  /// What a loss of power must not take goes to the disk.
  ~FileStore() override;

  [[nodiscard]] const CampaignResults& results() const override { return stored_.results; }
  /// Written at once, so that the end of the process takes nothing; to the disk every few seconds.
  [[nodiscard]] Status add(const CampaignCell& cell, std::string result) override;
  /// The file is replaced by one without their lines; whatever ends the program, it is the old or the new
  /// one.
  [[nodiscard]] Status remove(std::span<const CampaignCell> cells) override;

 private:
  FileStore(std::filesystem::path path, FileDescriptor file)
      : path_(std::move(path)), file_(std::move(file)) {}
  [[nodiscard]] static Result<FileDescriptor> open_locked(const std::filesystem::path& path);
  [[nodiscard]] Status begin(const CampaignDefinition& definition);
  [[nodiscard]] Status append(std::string line);
  [[nodiscard]] Error failure(const std::string& why) const;

  std::filesystem::path path_;
  FileDescriptor file_;
  StoredCampaign stored_;
  std::chrono::steady_clock::time_point flushed_ = std::chrono::steady_clock::now();
};

}  // namespace driftscope
