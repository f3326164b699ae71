// The report's style sheet. A verdict is shown by its symbol and word first; its colours, and all others, are
// those of the theme that the window has (core/draw/theme.hpp).
#pragma once

#include <fmt/format.h>

#include <string>

#include "core/draw/colour_map.hpp"
#include "core/draw/theme.hpp"

namespace driftscope {

/// The colour maps of legends come from the functions that the pictures use.
[[nodiscard]] inline std::string report_style() {
  constexpr const char* rules = R"css(
*{box-sizing:border-box}
body{margin:0;background:var(--panel);color:var(--ink);
font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;
-webkit-text-size-adjust:100%}
main{max-width:1120px;margin:0 auto;padding:20px 16px 48px}
.skip{position:absolute;left:-999px}.skip:focus{left:8px;top:8px;background:var(--panel);padding:6px 10px;
z-index:1}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
h1{font-size:22px;line-height:1.25;margin:0 0 4px;overflow-wrap:anywhere}h2{font-size:16px;margin:34px 0 8px}
h3{font-size:14px;margin:0 0 2px;overflow-wrap:anywhere}h3 .soft{font-weight:400}
.headline{font-size:16px;font-weight:600;margin:0 0 12px;overflow-wrap:anywhere}.soft{color:var(--dim)}
.chips{display:flex;flex-wrap:wrap;gap:8px;list-style:none;margin:0 0 10px;padding:0}
.chip{border:1px solid var(--line);border-left:4px solid currentColor;border-radius:4px;padding:3px 10px;
background:var(--raised)}
.chip b{color:var(--ink);font-weight:600;margin-right:4px}
code{font:12.5px/1.4 ui-monospace,"DejaVu Sans Mono",Menlo,monospace;overflow-wrap:anywhere}
pre{background:var(--raised);padding:10px 12px;border-radius:6px;margin:6px 0;white-space:pre-wrap}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:6px;position:relative}
.scroll:focus-visible{outline:2px solid var(--accent)}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:13px}
th,td{padding:4px 10px;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line);
font-weight:400}
tbody tr:last-child>*{border-bottom:0}
th[scope=col],th[scope=colgroup]{color:var(--dim);font-weight:600;background:var(--raised);
vertical-align:bottom}
th[scope=colgroup]{border-left:1px solid var(--line)}
tr>:first-child{text-align:left;position:sticky;left:0;background:var(--panel)}
tr>th[scope=col]:first-child{background:var(--raised)}thead tr+tr>:first-child{position:static;
text-align:right}
td.text,th.text,thead th.text{text-align:left}td.wrap{white-space:normal;min-width:180px}
.fault-row>*,.fault-row>:first-child{background:color-mix(in srgb,var(--fault) 11%,var(--panel))}
.facts th[scope=col]{text-align:left}.gap td{color:var(--dim);text-align:left;font-style:italic}
.v-identical{color:var(--identical)}.v-rounding{color:var(--rounding)}
.v-unjudged{color:var(--unjudged);font-style:italic}.v-suspect{color:var(--suspect);font-weight:600}
.v-fault{color:var(--fault);font-weight:700}.v-missing{color:var(--missing)}
.bar{display:inline-block;width:44px;height:7px;margin-left:7px;border-radius:2px;background:var(--line);
overflow:hidden;vertical-align:baseline}
.bar i{display:block;height:100%;background:var(--of,var(--rounding))}.bar.over{--of:var(--fault)}
.bar.wide{width:110px}
figure{margin:12px 0 22px}figcaption{margin-bottom:6px;color:var(--dim)}figcaption b{font-weight:600;
color:var(--ink)}
.chart{width:100%;min-width:800px;height:auto;display:block}
.legend{display:flex;flex-wrap:wrap;gap:4px 18px;margin-top:6px;font-size:12.5px;color:var(--dim)}
.legend svg{margin-right:6px;vertical-align:-1px}
.layer{border-top:1px solid var(--line);padding:12px 0 4px}.layer p{margin:2px 0 8px;overflow-wrap:anywhere}
.maps{display:flex;flex-wrap:wrap;gap:10px 22px}.map{margin:4px 0}
.map figcaption{font-size:12.5px;margin-bottom:4px;max-width:260px;overflow-wrap:anywhere}
.map img{display:block;image-rendering:pixelated;border:1px solid var(--line);max-width:100%;height:auto}
.ramp{display:flex;align-items:center;gap:6px;font-size:11.5px;color:var(--dim);margin-top:4px;
font-variant-numeric:tabular-nums}
.ramp span{white-space:nowrap}.ramp i{flex:0 1 110px;min-width:60px;height:8px;border-radius:2px}
.swatch{display:inline-block;width:9px;height:9px}
.pair{display:flex;flex-wrap:wrap;gap:18px;align-items:flex-start}.pair>.scroll{flex:1 1 320px}
.sample{image-rendering:pixelated;width:140px;height:140px;object-fit:contain;background:#000;
border-radius:6px;display:block}
.error{border-left:3px solid var(--fault);padding:4px 10px;margin:6px 0;background:var(--raised);
white-space:pre-wrap;overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 16px;margin:0 0 12px}dt{color:var(--dim)}
dd{margin:0;overflow-wrap:anywhere}
ol,ul{padding-left:20px}li{margin:4px 0}
footer{margin-top:34px;color:var(--dim);font-size:12.5px;border-top:1px solid var(--line);padding-top:8px}
@media(max-width:560px){th,td{padding:4px 7px}main{padding:14px 10px 36px}
.maps{flex-wrap:nowrap;gap:8px}.map{flex:1 1 0;min-width:0}.map img{width:100%}.ramp{gap:3px;font-size:10px}
.ramp i{min-width:12px}}
@media print{
@page{margin:13mm}@page wide{size:A4 landscape;margin:10mm}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
.skip{display:none}.scroll{overflow:visible;border:0}main{max-width:none;padding:0}.chart{min-width:0}
table{font-size:9.5px}th,td{padding:2px 4px}tr>:first-child{position:static}
.wide{page:wide}.layers table{font-size:7.5px}.layers th,.layers td{padding:1px 3px}.layers .bar{display:none}
thead{display:table-header-group}h2,h3{break-after:avoid}tr,figure,.layer{break-inside:avoid}
.map img{max-width:52mm}}
)css";
  const std::string light = ":root{" + css_variables(light_theme());
  const std::string dark = ":root{" + css_variables(dark_theme());
  std::string style = light + "color-scheme:light dark}@media(prefers-color-scheme:dark){" + dark +
                      "}}@media print{" + light + "color-scheme:light}}" + rules +
                      ".sequential{background:" + css_gradient(&sequential_colour, 0.0) +
                      "}.diverging{background:" + css_gradient(&diverging_colour, -1.0) +
                      "}.nan{background:" + hex_text(nan_colour) +
                      "}.plus-inf{background:" + hex_text(positive_infinity_colour) +
                      "}.minus-inf{background:" + hex_text(negative_infinity_colour) + "}\n";
  for (std::size_t t = 0; t < series_colours; ++t) style += fmt::format(".s{0}{{--of:var(--s{0})}}", t);
  for (int percent = 0; percent <= 100; ++percent)  // of a bar
    style += fmt::format(".w{0}{{width:{0}%}}", percent);
  return style;
}

}  // namespace driftscope
