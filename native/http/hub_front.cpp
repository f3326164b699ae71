#include "native/http/hub_front.hpp"

#include <fmt/format.h>

#include <ctime>
#include <utility>

#include "native/http/tls/certificate.hpp"
#include "native/http/tls/front.hpp"
#include "native/http/tls/listen_address.hpp"

namespace driftscope {
namespace {

/// What the certificate is for: every name by which a device may have been told to come.
CertificateNames names_of(const std::vector<std::string>& addresses) {
  CertificateNames names{.addresses = addresses, .names = {}};
  if (addresses.front() == "127.0.0.1") names.names.emplace_back("localhost");
  return names;
}

std::vector<std::string> origins_of(const CertificateNames& names, int port) {
  constexpr int implied = 443;  // browsers leave it out
  const std::string suffix = port == implied ? std::string() : ":" + std::to_string(port);
  std::vector<std::string> origins;
  for (const auto& group : {names.addresses, names.names})
    for (const std::string& name : group) origins.push_back("https://" + name + suffix);
  return origins;
}

class OpenHubFront final : public HubFront {
 public:
  OpenHubFront(std::unique_ptr<TlsFront> front, std::vector<std::string> origins, std::string fingerprint)
      : front_(std::move(front)), origins_(std::move(origins)), fingerprint_(std::move(fingerprint)) {}
  const std::vector<std::string>& origins() const override { return origins_; }
  const std::string& fingerprint() const override { return fingerprint_; }
  Status start(int server_port) override { return front_->start(server_port); }

 private:
  std::unique_ptr<TlsFront> front_;
  std::vector<std::string> origins_;
  std::string fingerprint_;
};

void introduce(const HubFrontOptions& options, const std::vector<std::string>& origins,
               const Certificate& certificate) {
  if (!options.say) return;
  options.say("devices reach the hub at " + origins.front());
  if (origins.size() > 1)
    options.say(fmt::format("  also at {}", fmt::join(origins.begin() + 1, origins.end(), ", ")));
  if (!certificate.why_not_kept.empty())
    options.say(fmt::format("the certificate in {} was replaced: {}", options.certificate.string(),
                            certificate.why_not_kept));
  options.say(fingerprint_text(certificate.fingerprint));
}

}  // namespace

Result<std::unique_ptr<HubFront>> HubFront::open(const HubFrontOptions& options) {
  DRIFTSCOPE_TRY(const ListenAddress listen, parse_listen_address(options.listen));
  DRIFTSCOPE_TRY(const std::vector<std::string> addresses,
                 reachable_addresses(listen.address, own_addresses(), default_address()));
  const CertificateNames names = names_of(addresses);
  DRIFTSCOPE_TRY(const Certificate certificate,
                 keep_certificate(options.certificate, names, std::time(nullptr)));
  DRIFTSCOPE_TRY(auto front,
                 TlsFront::open({.address = listen.address, .port = listen.port, .pem = certificate.pem}));
  std::vector<std::string> origins = origins_of(names, front->port());
  introduce(options, origins, certificate);
  return std::unique_ptr<HubFront>(
      std::make_unique<OpenHubFront>(std::move(front), std::move(origins), certificate.fingerprint));
}

}  // namespace driftscope
