// Result<T>: a value or an error that a person can act on.
// Used by every function of the core that can fail; the core neither throws nor prints.
// It is not an exception replacement for programming errors: those are asserted.
#pragma once

#include <cassert>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

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

[[nodiscard]] Error bad_input(std::string message);
[[nodiscard]] Error unsupported(std::string message);
[[nodiscard]] Error limit_error(std::string message);
[[nodiscard]] Error missing_error(std::string message);
[[nodiscard]] Error io_error(std::string message);
[[nodiscard]] Error internal_error(std::string message);

/// Puts `where` in front of a message: "node Conv_3: …".
[[nodiscard]] Error in_context(Error error, const std::string& where);

/// An error behind a pointer, so that passing one on only moves a pointer; null after a move.
/// The code that handles the error itself is compiled once, in result.cpp: thousands of places return one.
class ErrorPtr {
 public:
  ErrorPtr() = default;
  explicit ErrorPtr(Error&& error);
  ErrorPtr(const ErrorPtr& other);
  ErrorPtr(ErrorPtr&& other) noexcept : error_(std::exchange(other.error_, nullptr)) {}
  ErrorPtr& operator=(ErrorPtr other) noexcept {
    std::swap(error_, other.error_);
    return *this;
  }
  ~ErrorPtr() {
    if (error_ != nullptr) release();
  }

  explicit operator bool() const { return error_ != nullptr; }
  [[nodiscard]] Error& operator*() const { return *error_; }

 private:
  void release() noexcept;
  Error* error_ = nullptr;
};

/// Not a std::variant, which takes far longer to compile and is in every signature.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : ok_(true), value_(std::move(value)) {}          // NOLINT: implicit
  Result(Error&& error) : ok_(false), error_(std::move(error)) {}   // NOLINT: implicit
  Result(const Error& error) : ok_(false), error_(Error(error)) {}  // NOLINT: implicit
  Result(ErrorPtr error) : ok_(false), error_(std::move(error)) {}  // NOLINT: implicit
  Result(const Result& other) : ok_(other.ok_) {
    if (ok_)
      std::construct_at(&value_, other.value_);
    else
      std::construct_at(&error_, other.error_);
  }
  Result(Result&& other) noexcept(std::is_nothrow_move_constructible_v<T>) : ok_(other.ok_) {
    if (ok_)
      std::construct_at(&value_, std::move(other.value_));
    else
      std::construct_at(&error_, std::move(other.error_));
  }
  Result& operator=(Result other) noexcept(std::is_nothrow_move_constructible_v<T>) {
    std::destroy_at(this);
    std::construct_at(this, std::move(other));
    return *this;
  }
  ~Result() {
    if (ok_)
      value_.~T();
    else
      error_.~ErrorPtr();
  }

  [[nodiscard]] bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }

  [[nodiscard]] T& value() & { return assert(ok_), value_; }
  [[nodiscard]] const T& value() const& { return assert(ok_), value_; }
  [[nodiscard]] T&& value() && { return assert(ok_), std::move(value_); }
  [[nodiscard]] T& operator*() & { return value(); }
  [[nodiscard]] const T& operator*() const& { return value(); }
  [[nodiscard]] T&& operator*() && { return std::move(*this).value(); }
  [[nodiscard]] T* operator->() { return &value(); }
  [[nodiscard]] const T* operator->() const { return &value(); }

  [[nodiscard]] const Error& error() const& { return assert(!ok_), *error_; }
  [[nodiscard]] Error&& error() && { return assert(!ok_), std::move(*error_); }
  /// For passing it on: the error, or null where there is a value.
  [[nodiscard]] ErrorPtr held() && { return ok_ ? ErrorPtr() : std::move(error_); }

 private:
  bool ok_;
  union {
    T value_;
    ErrorPtr error_;
  };
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error&& error) : error_(std::move(error)) {}   // NOLINT: implicit
  Result(const Error& error) : error_(Error(error)) {}  // NOLINT: implicit
  Result(ErrorPtr error) : error_(std::move(error)) {}  // NOLINT: implicit

  [[nodiscard]] bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const& { return assert(!ok()), *error_; }
  [[nodiscard]] Error&& error() && { return assert(!ok()), std::move(*error_); }
  [[nodiscard]] ErrorPtr held() && { return std::move(error_); }

 private:
  ErrorPtr error_;
};

using Status = Result<void>;

}  // namespace driftscope

#define DRIFTSCOPE_CONCAT_(a, b) a##b
#define DRIFTSCOPE_CONCAT(a, b) DRIFTSCOPE_CONCAT_(a, b)

/// `DRIFTSCOPE_CHECK(status_expression);` returns its error from the calling function. Checks may be nested:
/// an expression may hold a lambda with checks of its own.
#define DRIFTSCOPE_CHECK(expression) \
  DRIFTSCOPE_CHECK_(DRIFTSCOPE_CONCAT(driftscope_status_, __COUNTER__), expression)
#define DRIFTSCOPE_CHECK_(name, expression)                                  \
  do {                                                                       \
    if (auto name = (expression); !name.ok()) return std::move(name).held(); \
  } while (false)

/// `DRIFTSCOPE_TRY(auto x, result_expression);` declares x or returns the error.
#define DRIFTSCOPE_TRY(declaration, expression) \
  DRIFTSCOPE_TRY_(DRIFTSCOPE_CONCAT(driftscope_result_, __LINE__), declaration, expression)
#define DRIFTSCOPE_TRY_(name, declaration, expression) \
  auto name = (expression);                            \
  if (!name.ok()) return std::move(name).held();       \
  declaration = *std::move(name)
