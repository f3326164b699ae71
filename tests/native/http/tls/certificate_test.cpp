// The certificate that a hub makes and keeps.
#include "native/http/tls/certificate.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <ctime>
#include <fstream>

#include "native/http/tls/openssl.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope::test::certificate_test {
namespace {

using std::filesystem::perms;
constexpr std::time_t day = 24L * 60 * 60;
const CertificateNames home = {.addresses = {"192.168.1.5", "10.0.0.7"}, .names = {"localhost"}};

struct Kept {
  Kept() : folder(*TempFolder::make()), file(folder.path() / "state" / "hub-tls.pem") {}
  [[nodiscard]] Certificate keep(const CertificateNames& names = home, std::time_t later = 0) const {
    auto kept = keep_certificate(file, names, now + later);
    REQUIRE_MESSAGE(kept.ok(), kept.error().message);
    return *std::move(kept);
  }
  /// It was replaced for a reason that contains this.
  void check_replaced(const Certificate& old, const Certificate& made, const std::string& why) const {
    CHECK(made.made);
    CHECK(made.fingerprint != old.fingerprint);
    CHECK_MESSAGE(made.why_not_kept.find(why) != std::string::npos, made.why_not_kept);
    CHECK(std::filesystem::status(file).permissions() == (perms::owner_read | perms::owner_write));
    CHECK(keep().fingerprint == made.fingerprint);
  }
  TempFolder folder;
  std::filesystem::path file;
  std::time_t now = std::time(nullptr);
};

TEST_CASE("HubCertificate_IsForItsNamesAndNotForTooLong") {
  const auto made = make_certificate(home, std::time(nullptr));
  REQUIRE_MESSAGE(made.ok(), made.error().message);
  const tls::KeyAndCertificate read = tls::read_pem(made->pem);
  X509* const certificate = read.certificate.get();
  REQUIRE(certificate != nullptr);
  REQUIRE(read.key);
  CHECK(X509_get_version(certificate) == 2);
  CHECK(X509_verify(certificate, read.key.get()) == 1);
  CHECK(EVP_PKEY_get_bits(read.key.get()) == 256);
  CHECK(X509_check_ip_asc(certificate, "192.168.1.5", 0) == 1);
  CHECK(X509_check_ip_asc(certificate, "10.0.0.7", 0) == 1);
  CHECK(X509_check_ip_asc(certificate, "10.0.0.8", 0) == 0);
  CHECK(X509_check_host(certificate, "localhost", 0, 0, nullptr) == 1);
  CHECK(X509_check_host(certificate, "example.org", 0, 0, nullptr) == 0);
  CHECK(X509_check_ca(certificate) == 0);
  CHECK((X509_get_extended_key_usage(certificate) & XKU_SSL_SERVER) != 0);
  int days = 0;
  int seconds = 0;
  REQUIRE(ASN1_TIME_diff(&days, &seconds, X509_get0_notBefore(certificate),
                         X509_get0_notAfter(certificate)) == 1);
  CHECK(days == certificate_days + 1);  // browsers refuse more than 398
  CHECK(made->fingerprint.size() == 32 * 3 - 1);
  CHECK(made->fingerprint.find_first_not_of("0123456789ABCDEF:") == std::string::npos);
}

TEST_CASE("HubCertificate_IsKeptPrivatelyAndUsedAgain") {
  const Kept it;
  const Certificate first = it.keep();
  CHECK(first.made);
  CHECK(first.why_not_kept.empty());
  CHECK(std::filesystem::status(it.file).permissions() == (perms::owner_read | perms::owner_write));
  const Certificate second = it.keep();
  CHECK(!second.made);
  CHECK(second.pem == first.pem);
  CHECK(second.fingerprint == first.fingerprint);
  // For fewer names too, and until a week before its end.
  CHECK(it.keep({.addresses = {"10.0.0.7"}}).fingerprint == first.fingerprint);
  CHECK(it.keep(home, (certificate_days - 8) * day).fingerprint == first.fingerprint);
}

TEST_CASE("HubCertificate_Expired_IsMadeAnew") {
  const Kept it;
  const auto old = make_certificate(home, it.now - (certificate_days - 6) * day);
  REQUIRE(old.ok());
  std::filesystem::create_directories(it.file.parent_path());
  std::ofstream(it.file) << old->pem;
  std::filesystem::permissions(it.file, perms::owner_read | perms::owner_write);
  it.check_replaced(*old, it.keep(), "expired");
  // A clock that was wrong when it was made.
  const auto early = make_certificate(home, it.now + 30 * day);
  REQUIRE(early.ok());
  std::ofstream(it.file) << early->pem;
  it.check_replaced(*early, it.keep(), "not valid yet");
}

TEST_CASE("HubCertificate_OtherAddress_IsMadeAnew") {
  const Kept it;
  const Certificate first = it.keep({.addresses = {"192.168.1.5"}});
  it.check_replaced(first, it.keep(), "it is not for 10.0.0.7");
}

TEST_CASE("HubCertificate_Garbage_IsReplaced") {
  const Kept it;
  Certificate last = it.keep();
  const std::string pem = last.pem;
  const std::string other = make_certificate(home, it.now)->pem;
  const auto certificate_at = [](const std::string& text) { return text.find("-----BEGIN CERTIFICATE"); };
  const std::string foreign_key = other.substr(0, certificate_at(other)) + pem.substr(certificate_at(pem));
  for (const std::string& text : {std::string(), std::string("nonsense"), pem.substr(0, pem.size() / 2),
                                  pem.substr(certificate_at(pem)), foreign_key}) {
    std::ofstream(it.file) << text;
    const Certificate made = it.keep();
    it.check_replaced(last, made, "it holds no key with its certificate");
    last = made;
  }
  std::ofstream(it.file) << std::string(100'000, 'x');
  it.check_replaced(last, it.keep(), "too long");
}

TEST_CASE("HubCertificate_FileThatOthersRead_IsReplaced") {
  const Kept it;
  const Certificate first = it.keep();
  std::filesystem::permissions(it.file, perms::group_read, std::filesystem::perm_options::add);
  it.check_replaced(first, it.keep(), "other users may read");
}

TEST_CASE("HubCertificate_UnreadableFile_IsReplaced") {
  if (::geteuid() == 0) return;  // root reads everything
  const Kept it;
  const Certificate first = it.keep();
  std::filesystem::permissions(it.file, perms::none);
  it.check_replaced(first, it.keep(), "cannot");
}

TEST_CASE("HubCertificate_PlaceThatIsNoFile_IsAnError") {
  const Kept it;
  std::filesystem::create_directories(it.file / "inside");
  CHECK(!keep_certificate(it.file, home, it.now).ok());
}

}  // namespace
}  // namespace driftscope::test::certificate_test
