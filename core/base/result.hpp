// Result<T>: a value or an error that a person can act on.
// Used by every function of the core that can fail; the core neither throws nor prints.
// It is no exception replacement for programming errors: those are asserted.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace driftscope {

/// What kind of failure it is; the command line turns it into an exit code.
enum class ErrorKind {
  bad_input,    ///< a file or an argument is wrong: exit code 2
  unsupported,  ///< valid, but not something this build can run: exit code 2
  limit,        ///< beyond a stated limit (size, time, memory): exit code 2
  missing,      ///< something needed is not installed here: exit code 3
  io,           ///< reading or writing failed: exit code 2
  cancelled,    ///< stopped by the user
  internal,     ///< a defect of Driftscope itself
};

/// What went wrong, where, expected and got, and how to fix it, in one readable message.
struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
};

inline Error bad_input(std::string message) { return {ErrorKind::bad_input, std::move(message)}; }
inline Error unsupported(std::string message) {
  return {ErrorKind::unsupported, std::move(message)};
}
inline Error limit_error(std::string message) { return {ErrorKind::limit, std::move(message)}; }
inline Error missing_error(std::string message) { return {ErrorKind::missing, std::move(message)}; }
inline Error io_error(std::string message) { return {ErrorKind::io, std::move(message)}; }
inline Error internal_error(std::string message) {
  return {ErrorKind::internal, std::move(message)};
}

/// Puts `where` in front of a message: "node Conv_3: …".
inline Error in_context(Error error, const std::string& where) {
  error.message = where + ": " + error.message;
  return error;
}

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  [[nodiscard]] T& value() & { return assert(ok()), std::get<0>(state_); }
  [[nodiscard]] const T& value() const& { return assert(ok()), std::get<0>(state_); }
  [[nodiscard]] T&& value() && { return assert(ok()), std::get<0>(std::move(state_)); }
  [[nodiscard]] T& operator*() & { return value(); }
  [[nodiscard]] const T& operator*() const& { return value(); }
  [[nodiscard]] T&& operator*() && { return std::move(*this).value(); }
  [[nodiscard]] T* operator->() { return &value(); }
  [[nodiscard]] const T* operator->() const { return &value(); }

  [[nodiscard]] const Error& error() const& { return assert(!ok()), std::get<1>(state_); }
  [[nodiscard]] Error&& error() && { return assert(!ok()), std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit

  [[nodiscard]] bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const& { return assert(!ok()), *error_; }
  [[nodiscard]] Error&& error() && { return assert(!ok()), *std::move(error_); }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace driftscope

#define DRIFTSCOPE_CONCAT_(a, b) a##b
#define DRIFTSCOPE_CONCAT(a, b) DRIFTSCOPE_CONCAT_(a, b)

/// `DRIFTSCOPE_CHECK(status_expression);` returns its error from the calling function.
#define DRIFTSCOPE_CHECK(expression)                                        \
  do {                                                                      \
    if (auto driftscope_status = (expression); !driftscope_status.ok())     \
      return std::move(driftscope_status).error();                          \
  } while (false)

/// `DRIFTSCOPE_TRY(auto x, result_expression);` declares x or returns the error.
#define DRIFTSCOPE_TRY(declaration, expression) \
  DRIFTSCOPE_TRY_(DRIFTSCOPE_CONCAT(driftscope_result_, __LINE__), declaration, expression)
#define DRIFTSCOPE_TRY_(name, declaration, expression) \
  auto name = (expression);                            \
  if (!name.ok()) return std::move(name).error();      \
  declaration = *std::move(name)
