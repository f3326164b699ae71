#include "native/http/tls/certificate.hpp"

#include <openssl/rand.h>

#include <array>
#include <system_error>

#include "native/http/tls/openssl.hpp"
#include "native/os/files.hpp"
#include "native/os/folders.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

constexpr long day_seconds = 24L * 60 * 60;
constexpr int renewed_days_before = 7;
constexpr std::size_t largest_file = 64 * 1024;

/// As OpenSSL's configuration files have it: "IP:192.168.1.5,DNS:localhost".
std::string alternative_names(const CertificateNames& names) {
  std::string text;
  for (const std::string& address : names.addresses) text += (text.empty() ? "IP:" : ",IP:") + address;
  for (const std::string& name : names.names) text += (text.empty() ? "DNS:" : ",DNS:") + name;
  return text;
}

bool add_extension(X509* certificate, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  const bool added = extension != nullptr && X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

bool set_serial(X509* certificate) {
  std::uint64_t serial = 0;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial)) != 1) return false;
  constexpr std::uint64_t positive = ~std::uint64_t{0} >> 1;
  return ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), (serial & positive) | 1) == 1;
}

bool set_name(X509* certificate) {
  X509_NAME* const name = X509_get_subject_name(certificate);
  const auto* const text = reinterpret_cast<const unsigned char*>("Driftscope hub");
  return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, text, -1, -1, 0) == 1 &&
         X509_set_issuer_name(certificate, name) == 1;
}

bool fill(X509* certificate, EVP_PKEY* key, const CertificateNames& names, std::time_t now) {
  return X509_set_version(certificate, 2) == 1 &&  // v3
         set_serial(certificate) && set_name(certificate) &&
         X509_time_adj_ex(X509_getm_notBefore(certificate), -1, 0, &now) != nullptr &&
         X509_time_adj_ex(X509_getm_notAfter(certificate), certificate_days, 0, &now) != nullptr &&
         X509_set_pubkey(certificate, key) == 1 &&
         add_extension(certificate, NID_basic_constraints, "critical,CA:FALSE") &&
         add_extension(certificate, NID_key_usage, "critical,digitalSignature") &&
         add_extension(certificate, NID_ext_key_usage, "serverAuth") &&
         add_extension(certificate, NID_subject_alt_name, alternative_names(names)) &&
         X509_sign(certificate, key, EVP_sha256()) > 0;
}

std::string fingerprint_of(const X509* certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (X509_digest(certificate, EVP_sha256(), digest.data(), &size) != 1) return {};
  constexpr const char* digits = "0123456789ABCDEF";
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    if (i > 0) text += ':';
    text += digits[digest[i] >> 4];
    text += digits[digest[i] & 15];
  }
  return text;
}

Result<std::string> pem_of(EVP_PKEY* key, X509* certificate) {
  const tls::Memory memory(BIO_new(BIO_s_mem()));
  if (!memory || PEM_write_bio_PrivateKey(memory.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1 ||
      PEM_write_bio_X509(memory.get(), certificate) != 1)
    return tls::failure("cannot write a certificate");
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  return std::string(text, static_cast<std::size_t>(size));
}

/// Why a stored certificate cannot be shown; empty: it can.
std::string fault_of(const tls::KeyAndCertificate& stored, const CertificateNames& names, std::time_t now) {
  X509* const certificate = stored.certificate.get();
  if (!stored.key || certificate == nullptr || X509_check_private_key(certificate, stored.key.get()) != 1)
    return "it holds no key with its certificate";
  std::time_t soon = now + renewed_days_before * day_seconds;
  if (X509_cmp_time(X509_get0_notAfter(certificate), &soon) != 1)
    return "it has expired, or will within days";
  if (X509_cmp_time(X509_get0_notBefore(certificate), &now) != -1) return "it is not valid yet";
  for (const std::string& address : names.addresses)
    if (X509_check_ip_asc(certificate, address.c_str(), 0) != 1) return "it is not for " + address;
  for (const std::string& name : names.names)
    if (X509_check_host(certificate, name.c_str(), name.size(), 0, nullptr) != 1)
      return "it is not for " + name;
  return {};
}

/// As keep_certificate; without a `pem` where the file's is not to be kept.
Certificate read_kept(const fs::path& file, const CertificateNames& names, std::time_t now) {
  Certificate kept;
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (status.type() == fs::file_type::not_found) return kept;
  const auto refused = [&](std::string why) {
    kept.why_not_kept = std::move(why);
    return kept;
  };
  if (status.type() != fs::file_type::regular) return refused("it is not a regular file");
  if ((status.permissions() & (fs::perms::group_all | fs::perms::others_all)) != fs::perms::none)
    return refused("other users may read or write it");
  const auto bytes = read_file(file);
  if (!bytes.ok()) return refused(bytes.error().message);
  if (bytes->size() > largest_file) return refused("it is too long");
  const std::string pem(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  const tls::KeyAndCertificate stored = tls::read_pem(pem);
  if (std::string fault = fault_of(stored, names, now); !fault.empty()) return refused(std::move(fault));
  kept.pem = pem;
  kept.fingerprint = fingerprint_of(stored.certificate.get());
  return kept;
}

}  // namespace

Result<Certificate> make_certificate(const CertificateNames& names, std::time_t now) {
  ERR_clear_error();
  const tls::Key key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  const tls::X509Certificate certificate(X509_new());
  if (!key || !certificate || !fill(certificate.get(), key.get(), names, now))
    return tls::failure("cannot make a certificate for " + alternative_names(names));
  Certificate made;
  DRIFTSCOPE_TRY(made.pem, pem_of(key.get(), certificate.get()));
  made.fingerprint = fingerprint_of(certificate.get());
  made.made = true;
  return made;
}

Result<Certificate> keep_certificate(const fs::path& file, const CertificateNames& names, std::time_t now) {
  Certificate kept = read_kept(file, names, now);
  ERR_clear_error();
  if (!kept.pem.empty()) return kept;
  DRIFTSCOPE_TRY(Certificate made, make_certificate(names, now));
  made.why_not_kept = std::move(kept.why_not_kept);
  DRIFTSCOPE_CHECK(make_folders(folder_of(file)));
  DRIFTSCOPE_CHECK(write_private(file, made.pem));
  return made;
}

}  // namespace driftscope
