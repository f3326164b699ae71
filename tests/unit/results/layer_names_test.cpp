// Names as people see them.
#include "core/results/layer_names.hpp"

#include <doctest/doctest.h>

#include "core/base/format.hpp"

namespace driftscope::test::layer_names_test {

using Names = std::vector<std::string>;

TEST_CASE("ScopesOf_SegmentsThatTheNextRepeats_AreDropped") {
  CHECK(scopes_of("/features/features.3/conv/conv.0/conv.0.0/Conv") ==
        Names{"features.3", "conv.0.0", "Conv"});
  CHECK(scopes_of("conv1") == Names{"conv1"});
  CHECK(scopes_of("/fea/features.3/x") == Names{"fea", "features.3", "x"});
  CHECK(scopes_of("") == Names{""});
  CHECK(scopes_of("//") == Names{"//"});
}

TEST_CASE("ShortNames_SharedScopes_AreLeftOut") {
  const Names names = {"/model/a/Conv", "/model/b/Conv", "/model/b/Relu", "x"};
  CHECK(short_names(names) == Names{"a/Conv", "b/Conv", "b/Relu", "x"});
  CHECK(short_names(Names{"/a/x", "/a/y"}) == Names{"a/x", "a/y"});  // two say little about a model
}

TEST_CASE("ShortNames_ThatWouldBeEqual_StayWhole") {
  const Names names = {"/a/a.1/x", "/a.1/x", "/b/y", "/c/z"};
  CHECK(short_names(names) == Names{"/a/a.1/x", "/a.1/x", "b/y", "c/z"});
}

TEST_CASE("FittingNames_ThatFit_AreLeftAlone") {
  CHECK(fitting_names(Names{"/a/a.1/x", "y"}, 8) == Names{"/a/a.1/x", "y"});
  CHECK(fitting_names(Names{"/a/a.1/x", "y"}, 7) == Names{"a.1/x", "y"});
}

TEST_CASE("ElideStart_KeepsTheEnd") {
  CHECK(elide_start("abcdef", 6) == "abcdef");
  CHECK(elide_start("abcdef", 4) == "…def");
  CHECK(elide_start("äöüß", 3) == "…üß");
  CHECK(display_width(elide_start("äöüßabc", 5)) == 5);
}

}  // namespace driftscope::test::layer_names_test
