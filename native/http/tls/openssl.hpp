// Owners of what OpenSSL allocates. Clients: certificate, passage, front.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <climits>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace driftscope::tls {

template <auto release>
struct Release {
  template <class T>
  void operator()(T* object) const {
    release(object);
  }
};

using Key = std::unique_ptr<EVP_PKEY, Release<EVP_PKEY_free>>;
using X509Certificate = std::unique_ptr<X509, Release<X509_free>>;
using Memory = std::unique_ptr<BIO, Release<BIO_free>>;
using Context = std::unique_ptr<SSL_CTX, Release<SSL_CTX_free>>;
using Session = std::unique_ptr<SSL, Release<SSL_free>>;

/// With OpenSSL's own reason; empties its queue of errors.
[[nodiscard]] inline Error failure(const std::string& what) {
  const unsigned long code = ERR_get_error();
  const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  return io_error(what + (reason == nullptr ? "" : std::string(": ") + reason));
}

/// The first key and the first certificate of a text in PEM; null where there is none.
struct KeyAndCertificate {
  Key key;
  X509Certificate certificate;
};
[[nodiscard]] inline KeyAndCertificate read_pem(std::string_view pem) {
  KeyAndCertificate read;
  if (pem.size() > INT_MAX) return read;
  const auto text = [&] { return Memory(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))); };
  // A key with a password is none of ours: nobody is asked for one.
  const auto no_password = [](char*, int, int, void*) { return -1; };
  if (const Memory memory = text())
    read.key.reset(PEM_read_bio_PrivateKey(memory.get(), nullptr, no_password, nullptr));
  if (const Memory memory = text())
    read.certificate.reset(PEM_read_bio_X509(memory.get(), nullptr, no_password, nullptr));
  ERR_clear_error();
  return read;
}

}  // namespace driftscope::tls
