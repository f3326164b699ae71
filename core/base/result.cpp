#include "core/base/result.hpp"

namespace driftscope {

Error bad_input(std::string message) { return {ErrorKind::bad_input, std::move(message)}; }
Error unsupported(std::string message) { return {ErrorKind::unsupported, std::move(message)}; }
Error limit_error(std::string message) { return {ErrorKind::limit, std::move(message)}; }
Error missing_error(std::string message) { return {ErrorKind::missing, std::move(message)}; }
Error io_error(std::string message) { return {ErrorKind::io, std::move(message)}; }
Error internal_error(std::string message) { return {ErrorKind::internal, std::move(message)}; }

Error in_context(Error error, const std::string& where) {
  error.message = where + ": " + error.message;
  return error;
}

ErrorPtr::ErrorPtr(Error&& error) : error_(new Error(std::move(error))) {}

ErrorPtr::ErrorPtr(const ErrorPtr& other)
    : error_(other.error_ != nullptr ? new Error(*other.error_) : nullptr) {}

void ErrorPtr::release() noexcept { delete error_; }

}  // namespace driftscope
