// URLs of databases, and the passwords in them, which nothing prints or keeps. Clients: the kinds of stores.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace driftscope {

struct StoreUrl {
  std::string shown;         ///< the URL without passwords
  std::string password;      ///< decoded; empty: none
  std::string key_password;  ///< of a key for TLS, the parameter sslpassword
};

/// SCHEME://[USER[:PASSWORD]@]HOST[:PORT]…/DATABASE[?NAME=VALUE&…]. Errors, without the text of a password:
/// characters from which it cannot be told where a password ends, or a '%' without two digits.
[[nodiscard]] Result<StoreUrl> read_store_url(std::string_view url);

/// The same for any text: what cannot be told apart is left out. Other than a URL it stays.
[[nodiscard]] std::string without_passwords(std::string_view text);

}  // namespace driftscope
