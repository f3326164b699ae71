// The store of a campaign in a PostgreSQL database, which holds many campaigns and which several machines may
// write at once. Clients: the kind postgresql, tests.
#pragma once

#include <memory>

#include "core/campaign/store_format.hpp"
#include "native/campaign/postgres_connection.hpp"

namespace driftscope {

class PostgresStore final : public CampaignStore {
 public:
  /// Begins the campaign in this database, or goes on with it. A connection that is lost later is made again.
  /// Errors, with what to do and without the password: the server cannot be reached or refuses, the tables
  /// are of a newer version or damaged, libpq is missing.
  [[nodiscard]] static Result<std::unique_ptr<PostgresStore>> open(const std::string& url,
                                                                   const CampaignDefinition& definition,
                                                                   const PostgresTimes& times = {},
                                                                   PostgresConnection::Notice notice = {});

  [[nodiscard]] const CampaignResults& results() const override { return results_; }
  /// A transaction of its own: neither the end of this process nor of the server takes it.
  [[nodiscard]] Status add(const CampaignCell& cell, std::string result) override;
  /// Other processes that have read these cells keep what they have.
  [[nodiscard]] Status remove(std::span<const CampaignCell> cells) override;
  [[nodiscard]] Status refresh() override;

 private:
  PostgresStore(std::string shown, PostgresConnection connection)
      : shown_(std::move(shown)), connection_(std::move(connection)) {}
  [[nodiscard]] Status begin(const CampaignDefinition& definition);
  [[nodiscard]] Status provide_tables();
  /// Whether it was inserted: nobody had it.
  [[nodiscard]] Result<bool> insert(const CampaignCell& cell, const std::string& result);
  [[nodiscard]] Status read_first(const CampaignCell& cell);
  [[nodiscard]] Error in_store(Error error) const;
  [[nodiscard]] Error with_kept(Error error) const;

  std::string shown_;
  PostgresConnection connection_;
  std::string campaign_;
  CampaignResults results_;
  std::string seen_ = "0";  ///< rows of transactions before this one have all been read
};

}  // namespace driftscope
