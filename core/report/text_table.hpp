// A table of text for terminals: columns as wide as their widest cell, numbers to the right.
#pragma once

#include <string>
#include <vector>

namespace driftscope {

enum class Align { left, right };

class TextTable {
 public:
  void column(std::string title, Align align);
  /// As many cells as there are columns.
  void row(std::vector<std::string> cells);
  /// Lines with a rule under the titles; no trailing blanks; ends in a newline.
  [[nodiscard]] std::string text() const;

 private:
  struct Column {
    std::string title;
    Align align;
  };
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace driftscope
