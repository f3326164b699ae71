// A callable that is called while the caller waits: two words, nothing copied or allocated, and a fraction
// of what std::function costs to compile. Clients: loops that hand out ranges and rows.
#pragma once

#include <type_traits>

namespace driftscope {

template <class Signature>
class FunctionRef;

/// Refers to a callable that must outlive it: for parameters, never to be kept.
template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  template <class Callable>
    requires(!std::is_same_v<std::remove_cvref_t<Callable>, FunctionRef>)
  FunctionRef(const Callable& callable)  // NOLINT: implicit, as a parameter is passed
      : callable_(&callable), call_([](const void* it, Arguments... arguments) -> Result {
          return (*static_cast<const Callable*>(it))(arguments...);
        }) {}

  Result operator()(Arguments... arguments) const { return call_(callable_, arguments...); }

 private:
  const void* callable_;
  Result (*call_)(const void*, Arguments...);
};

}  // namespace driftscope
