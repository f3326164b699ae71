#include "core/convert/tf/names.hpp"

namespace driftscope::tf {
namespace {

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

std::string Names::take(std::string_view wanted) {
  std::string name;
  for (const char c : wanted)
    name += is_letter_or_digit(c) || c == '.' || c == '_' || c == '-' || c == '/' ? c : '_';
  if (name.empty() || !(is_letter_or_digit(name[0]) || name[0] == '.')) name.insert(0, "v");
  return taken_.take(name);
}

}  // namespace driftscope::tf
