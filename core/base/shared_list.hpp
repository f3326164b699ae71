// A list that copies share until one of them changes: what a graph holds much of and rarely changes. Clients:
// nodes, for their attributes, which a tree ensemble may have hundreds of megabytes of.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace driftscope {

template <class T>
class SharedList {
 public:
  using value_type = T;
  using const_iterator = typename std::vector<T>::const_iterator;

  SharedList() = default;
  SharedList(std::vector<T> items)  // NOLINT: the same items
      : items_(items.empty() ? nullptr : std::make_shared<std::vector<T>>(std::move(items))) {}
  SharedList(std::initializer_list<T> items) : SharedList(std::vector<T>(items)) {}

  operator const std::vector<T>&() const { return items(); }  // NOLINT: read as what it is
  [[nodiscard]] const std::vector<T>& items() const {
    static const std::vector<T> none;
    return items_ == nullptr ? none : *items_;
  }
  [[nodiscard]] const_iterator begin() const { return items().begin(); }
  [[nodiscard]] const_iterator end() const { return items().end(); }
  [[nodiscard]] std::size_t size() const { return items().size(); }
  [[nodiscard]] bool empty() const { return items().empty(); }
  [[nodiscard]] const T& operator[](std::size_t i) const { return items()[i]; }
  [[nodiscard]] const T& front() const { return items().front(); }
  [[nodiscard]] const T& back() const { return items().back(); }
  [[nodiscard]] const T& at(std::size_t i) const { return items().at(i); }

  /// To change the items: of this list alone from here on.
  [[nodiscard]] std::vector<T>& edit() {
    if (items_ == nullptr)
      items_ = std::make_shared<std::vector<T>>();
    else if (items_.use_count() > 1)
      items_ = std::make_shared<std::vector<T>>(*items_);
    return *items_;
  }
  void push_back(T item) { edit().push_back(std::move(item)); }
  void clear() { items_ = nullptr; }

 private:
  std::shared_ptr<std::vector<T>> items_;
};

}  // namespace driftscope
