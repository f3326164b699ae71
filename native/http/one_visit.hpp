// An address of the page that is good for one browser, the first that opens it: `serve --open` passes it to
// the desktop, and a browser's history keeps what it opens. Client: server.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "core/base/result.hpp"

namespace driftscope {

class OneVisit {
 public:
  [[nodiscard]] static Result<OneVisit> make();
  OneVisit(OneVisit&& other) noexcept;

  /// The first segment of its paths, as the server's token is of all others.
  [[nodiscard]] const std::string& segment() const { return segment_; }

  enum class Answer { first, again, refused };

  /// Of a request for these paths. `first` once, for one that opens the page; `again` where a Cookie header
  /// holds what the first answer set.
  [[nodiscard]] Answer ask(bool opens_the_page, const std::vector<std::string>& cookies);

  /// The Set-Cookie header of the first answer. The cookie ends with the browser's session, goes to these
  /// paths alone, and neither scripts nor other sites can read or use it.
  [[nodiscard]] std::string set_cookie() const;

 private:
  OneVisit(std::string segment, std::string secret);
  std::string segment_;
  std::string secret_;
  std::atomic<bool> used_ = false;
};

}  // namespace driftscope
