// Stores of campaigns by what --store names: a file, a database. A kind is a file in stores/: each FOO.cpp
// defines `void driftscope::campaign_stores::foo::add_to(CampaignStoreTable&)`; the table is generated from
// the folder at configure time, never edited. Clients: open_result_store, help, errors.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/campaign/store_format.hpp"

namespace driftscope {

struct CampaignStoreOptions {
  /// Told while the store waits for something that may come back; null: nobody asks.
  std::function<void(const std::string& what)> notice = {};
};

struct CampaignStoreKind {
  int order = 50;    ///< in help, ascending
  std::string form;  ///< "sqlite:FILE.db"
  /// Null: those that no other kind has, of which one kind can be.
  bool (*owns)(std::string_view spec) = nullptr;
  /// Errors begin with "--store SPEC: ", where SPEC is that of shown_store.
  Result<std::unique_ptr<CampaignStore>> (*open)(const std::string& spec,
                                                 const CampaignDefinition& definition,
                                                 const CampaignStoreOptions& options) = nullptr;
};

class CampaignStoreTable {
 public:
  void add(CampaignStoreKind kind);
  /// In their order.
  [[nodiscard]] std::span<const CampaignStoreKind> all() const { return kinds_; }

 private:
  std::vector<CampaignStoreKind> kinds_;
};

/// All of this build (generated: build/generated/stores/store_registry.cpp).
[[nodiscard]] const CampaignStoreTable& campaign_store_table();

/// "FILE, sqlite:FILE.db or postgresql://USER@HOST/DATABASE", for help and errors.
[[nodiscard]] std::string store_forms();

/// Begins the store, or goes on with it. Errors: a scheme that no kind has, and those of the kind. A file
/// whose name looks like a scheme ("mysql:x") is taken where it is there already, or written "./mysql:x".
[[nodiscard]] Result<std::unique_ptr<CampaignStore>> open_campaign_store(
    const std::string& spec, const CampaignDefinition& definition, const CampaignStoreOptions& options = {});

/// The spec that names this file, whatever its name looks like.
[[nodiscard]] std::string file_store_spec(const std::filesystem::path& path);

/// A spec for messages and documents: without passwords. It opens the same store where the password is in the
/// environment.
[[nodiscard]] std::string shown_store(const std::string& spec);

}  // namespace driftscope
