// Colours: contrast, and what people see who lack one kind of cones.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "core/draw/theme.hpp"
#include "tests/unit/support/text.hpp"

namespace driftscope::test::theme_test {
namespace {

using Linear = std::array<double, 3>;

Linear linear_of(Colour colour) {
  const auto linear = [](std::uint8_t channel) {
    const double c = channel / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  return {linear(colour.r), linear(colour.g), linear(colour.b)};
}

Linear times(const std::array<Linear, 3>& matrix, const Linear& c) {
  Linear result{};
  for (std::size_t i = 0; i < 3; ++i)
    result[i] = std::clamp(matrix[i][0] * c[0] + matrix[i][1] * c[1] + matrix[i][2] * c[2], 0.0, 1.0);
  return result;
}

/// Full protanopia, deuteranopia and tritanopia (Machado, Oliveira, Fernandes 2009, table 1), and nobody's.
constexpr std::array<std::array<Linear, 3>, 4> eyes = {{
    {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
    {{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}},
    {{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}},
    {{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}},
}};

/// OKLab (Ottosson 2020), whose distances are about those that people see.
Linear oklab(const Linear& c) {
  const double l = std::cbrt(0.4122214708 * c[0] + 0.5363325363 * c[1] + 0.0514459929 * c[2]);
  const double m = std::cbrt(0.2119034982 * c[0] + 0.6806995451 * c[1] + 0.1073969566 * c[2]);
  const double s = std::cbrt(0.0883024619 * c[0] + 0.2817188376 * c[1] + 0.6299787005 * c[2]);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

double apart(Colour a, Colour b, const std::array<Linear, 3>& eye) {
  const Linear x = oklab(times(eye, linear_of(a)));
  const Linear y = oklab(times(eye, linear_of(b)));
  return std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
}

}  // namespace

TEST_CASE("Theme_TargetsAndVerdicts_AreDistinctForColourBlindPeople") {
  constexpr std::size_t first_targets = 6;
  for (const Theme& theme : {light_theme(), dark_theme()})
    for (std::size_t eye = 0; eye < eyes.size(); ++eye) {
      CAPTURE(theme.dark);
      CAPTURE(eye);
      for (std::size_t a = 0; a < series_colours; ++a)
        for (std::size_t b = 0; b < a; ++b) {
          CAPTURE(a);
          CAPTURE(b);
          // Of hundreds of targets the shapes of the markers tell more than the colours do.
          CHECK(apart(theme.series(a), theme.series(b), eyes[eye]) > (a < first_targets ? 0.05 : 0.045));
        }
      for (const auto& a : verdict_rows)
        for (const auto& b : verdict_rows) {
          if (a.severity <= b.severity || b.severity < 0) continue;
          CAPTURE(a.name);
          CAPTURE(b.name);
          CHECK(apart(theme.verdict(a.verdict), theme.verdict(b.verdict), eyes[eye]) > 0.06);
        }
    }
}

// What is painted for a page in the light theme must be itself in the dark one.
TEST_CASE("Theme_ColoursThatAreEqualInTheLight_AreEqualInTheDark") {
  const auto colours = [](const Theme& theme) {
    std::vector<std::string> all;
    const std::string text = css_variables(theme);
    for (std::size_t at = text.find('#'); at != std::string::npos; at = text.find('#', at + 1))
      all.push_back(text.substr(at, 7));
    return all;
  };
  const auto light = colours(light_theme());
  const auto dark = colours(dark_theme());
  REQUIRE(light.size() == dark.size());
  REQUIRE(light.size() == 10 + verdict_rows.size() + series_colours);
  for (std::size_t a = 0; a < light.size(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      if (light[a] == light[b]) CHECK(dark[a] == dark[b]);
}

TEST_CASE("CssColour_OfTheLightTheme_IsAVariable") {
  CHECK(css_colour(light_theme().ink) == "var(--ink)");
  CHECK(css_colour(with_alpha(light_theme().series(3), 0.5f)) == "var(--s3)");
  CHECK(css_colour(light_theme().verdict(Verdict::fault)) == "var(--fault)");
  CHECK(css_colour(rgb(0x123456)) == "#123456");
  CHECK(holds(css_variables(dark_theme()), "--ink:" + hex_text(dark_theme().ink) + ";"));
}

TEST_CASE("Theme_EveryMeaningfulColour_StandsOutFromThePanel") {
  for (const Theme& theme : {light_theme(), dark_theme()}) {
    CHECK(contrast(theme.ink, theme.panel) > 12.0);
    CHECK(contrast(theme.dim, theme.panel) > 4.5);
    CHECK(contrast(theme.on_accent, theme.accent) > 4.5);
    for (const auto& [verdict, name, mark, severity, concern] : verdict_rows)
      CHECK(contrast(theme.verdict(verdict), theme.panel) > 4.5);
    for (std::size_t target = 0; target < series_colours; ++target)
      CHECK(contrast(theme.series(target), theme.panel) > 3.0);
  }
}

TEST_CASE("Contrast_IsThatOfTheGuidelines") {
  const Colour white = rgb(0xffffff);
  CHECK(contrast(rgb(0x000000), white) == doctest::Approx(21.0));
  CHECK(contrast(white, rgb(0x767676)) == doctest::Approx(4.54).epsilon(0.002));
  CHECK(contrast(rgb(0x0a0a0a), white) == doctest::Approx(19.80).epsilon(0.001));  // the linear part
  CHECK(contrast(rgb(0xff0000), white) == doctest::Approx(4.0).epsilon(0.002));
}

}  // namespace driftscope::test::theme_test
