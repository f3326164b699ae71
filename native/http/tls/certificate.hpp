// The certificate that a hub shows to its devices, made here: a key of P-256 and an X.509 certificate that it
// signs itself. It is kept, since a browser's exception is for one certificate. Clients: hub_front, tests.
#pragma once

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.hpp"

namespace driftscope {

/// What browsers compare with the address that they opened.
struct CertificateNames {
  std::vector<std::string> addresses;   ///< IPv4, "192.168.1.5"
  std::vector<std::string> names = {};  ///< "localhost"
};

struct Certificate {
  std::string pem;          ///< the key, then the certificate
  std::string fingerprint;  ///< SHA-256 of the certificate, "AA:BB:…", as browsers show it
  bool made = false;        ///< now
  /// Why the stored one was not kept; empty where it was, and where there was none.
  std::string why_not_kept = {};
};

/// Browsers refuse those that are valid for more than 398 days.
inline constexpr int certificate_days = 365;

/// A new one, valid from a day before `now`: clocks differ. Errors: OpenSSL's, as one without random numbers.
[[nodiscard]] Result<Certificate> make_certificate(const CertificateNames& names, std::time_t now);

/// The one in this file, of mode 0600, if it is valid for another week and for all of the names; else a new
/// one, which takes its place. Errors: it cannot be made or written.
[[nodiscard]] Result<Certificate> keep_certificate(const std::filesystem::path& file,
                                                   const CertificateNames& names, std::time_t now);

}  // namespace driftscope
