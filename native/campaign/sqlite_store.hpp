// The store of a campaign in an SQLite database, which holds many campaigns and which several processes of
// one machine may write at once. Clients: the kind sqlite, tests.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>

#include "core/campaign/store_format.hpp"

namespace driftscope {

class SqliteConnection;

class SqliteStore final : public CampaignStore {
 public:
  /// Begins the campaign in this database, or goes on with it. Another process that has the database locked
  /// is waited for. Errors, with what to do: it is no database, it is damaged or of a newer version, it
  /// cannot be written.
  [[nodiscard]] static Result<std::unique_ptr<SqliteStore>> open(
      const std::filesystem::path& path, const CampaignDefinition& definition,
      std::chrono::milliseconds longest_lock = std::chrono::seconds(30));
  /// What a loss of power must not take goes to the disk.
  ~SqliteStore() override;

  [[nodiscard]] const CampaignResults& results() const override { return results_; }
  /// A transaction: the end of the process takes nothing; to the disk every few seconds.
  [[nodiscard]] Status add(const CampaignCell& cell, std::string result) override;
  /// Other processes that have read these cells keep what they have.
  [[nodiscard]] Status remove(std::span<const CampaignCell> cells) override;
  [[nodiscard]] Status refresh() override;

 private:
  explicit SqliteStore(std::unique_ptr<SqliteConnection> connection);
  [[nodiscard]] Status begin(const CampaignDefinition& definition);
  [[nodiscard]] Status read_first(const CampaignCell& cell);
  [[nodiscard]] Error failure() const;
  [[nodiscard]] Error with_kept(Error error) const;

  std::unique_ptr<SqliteConnection> connection_;
  std::string campaign_;
  CampaignResults results_;
  std::int64_t last_ = 0;  ///< number of the last row that was read
  std::chrono::steady_clock::time_point flushed_ = std::chrono::steady_clock::now();
};

}  // namespace driftscope
