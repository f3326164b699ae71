// The report's style sheet. One accent colour; a verdict is shown by its symbol and word first. The
// series' colours differ in lightness as well as in hue and keep 3:1 against the page, light and dark.
#pragma once

#include <fmt/format.h>

#include <string>

#include "core/report/colour_map.hpp"

namespace driftscope {

/// The colour maps of legends come from the functions that the pictures use.
[[nodiscard]] inline std::string report_style() {
  constexpr const char* rules = R"css(
:root{color-scheme:light dark;--bg:#fff;--panel:#f6f7f9;--ink:#1c2024;--soft:#5a6067;--rule:#dfe3e7;
--accent:#0f766e;--good:#2a6848;--warn:#8a5000;--bad:#b3261e;
--s0:#1f5fa8;--s1:#c2570c;--s2:#2b7a5a;--s3:#8a4bab;--s4:#59616b;--s5:#8a6d00}
@media(prefers-color-scheme:dark){:root{--bg:#15181c;--panel:#1d2126;--ink:#e6e8ea;--soft:#a2aab3;
--rule:#343a41;
--accent:#45bdb3;--good:#7cc6a0;--warn:#e3b161;--bad:#f2938c;
--s0:#6ea8e6;--s1:#f0995a;--s2:#74c7a0;--s3:#c79bea;--s4:#a9b1ba;--s5:#d9bd4f}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);
font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;
-webkit-text-size-adjust:100%}
main{max-width:1120px;margin:0 auto;padding:20px 16px 48px}
.skip{position:absolute;left:-999px}.skip:focus{left:8px;top:8px;background:var(--bg);padding:6px 10px;
z-index:1}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
h1{font-size:22px;line-height:1.25;margin:0 0 4px;overflow-wrap:anywhere}h2{font-size:16px;margin:34px 0 8px}
h3{font-size:14px;margin:0 0 2px;overflow-wrap:anywhere}h3 .soft{font-weight:400}
.headline{font-size:16px;font-weight:600;margin:0 0 12px;overflow-wrap:anywhere}.soft{color:var(--soft)}
.chips{display:flex;flex-wrap:wrap;gap:8px;list-style:none;margin:0 0 10px;padding:0}
.chip{border:1px solid var(--rule);border-left:4px solid currentColor;border-radius:4px;padding:3px 10px;
background:var(--panel)}
.chip b{color:var(--ink);font-weight:600;margin-right:4px}
code{font:12.5px/1.4 ui-monospace,"DejaVu Sans Mono",Menlo,monospace;overflow-wrap:anywhere}
pre{background:var(--panel);padding:10px 12px;border-radius:6px;margin:6px 0;white-space:pre-wrap}
.scroll{overflow-x:auto;border:1px solid var(--rule);border-radius:6px;position:relative}
.scroll:focus-visible{outline:2px solid var(--accent)}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:13px}
th,td{padding:4px 10px;text-align:right;white-space:nowrap;border-bottom:1px solid var(--rule);
font-weight:400}
tbody tr:last-child>*{border-bottom:0}
th[scope=col],th[scope=colgroup]{color:var(--soft);font-weight:600;background:var(--panel);
vertical-align:bottom}
th[scope=colgroup]{border-left:1px solid var(--rule)}
tr>:first-child{text-align:left;position:sticky;left:0;background:var(--bg)}
tr>th[scope=col]:first-child{background:var(--panel)}thead tr+tr>:first-child{position:static;
text-align:right}
td.text,th.text,thead th.text{text-align:left}td.wrap{white-space:normal;min-width:180px}
.fault-row>*,.fault-row>:first-child{background:color-mix(in srgb,var(--bad) 11%,var(--bg))}
.facts th[scope=col]{text-align:left}.gap td{color:var(--soft);text-align:left;font-style:italic}
.v-identical{color:var(--good)}.v-rounding{color:var(--ink)}
.v-unjudged{color:var(--ink);font-style:italic}.v-suspect{color:var(--warn);font-weight:600}
.v-fault{color:var(--bad);font-weight:700}.v-missing{color:var(--soft)}
.bar{display:inline-block;width:44px;height:7px;margin-left:7px;border-radius:2px;background:var(--rule);
overflow:hidden;vertical-align:baseline}
.bar i{display:block;height:100%;background:var(--accent)}.bar.over i{background:var(--bad)}
.bar.wide{width:110px}
figure{margin:12px 0 22px}figcaption{margin-bottom:6px;color:var(--soft)}figcaption b{font-weight:600;
color:var(--ink)}
.chart{width:100%;min-width:620px;height:auto;display:block}
.grid{stroke:var(--rule);stroke-width:1}.tick,.unit{fill:var(--soft);font-size:10.5px}
.limit{stroke:var(--bad);stroke-width:1;stroke-dasharray:5 4}.limit-text{fill:var(--bad)}
.mark{stroke:var(--ink);stroke-width:1;stroke-dasharray:1 3}.mark-text{fill:var(--ink);font-weight:600}
.series .line{fill:none;stroke-width:1.6;stroke-linecap:round}
.series.again .line{stroke-dasharray:5 4}
.series.dots .line{stroke-width:3.4;stroke-dasharray:none}.series.hollow :not(.line){fill:var(--bg)}
.s0{fill:var(--s0);stroke:var(--s0)}.s1{fill:var(--s1);stroke:var(--s1)}.s2{fill:var(--s2);stroke:var(--s2)}
.s3{fill:var(--s3);stroke:var(--s3)}.s4{fill:var(--s4);stroke:var(--s4)}.s5{fill:var(--s5);stroke:var(--s5)}
.series title{stroke:none}
.legend{display:flex;flex-wrap:wrap;gap:4px 18px;margin-top:6px;font-size:12.5px;color:var(--soft)}
.legend svg{margin-right:6px;vertical-align:-1px}
.layer{border-top:1px solid var(--rule);padding:12px 0 4px}.layer p{margin:2px 0 8px;overflow-wrap:anywhere}
.maps{display:flex;flex-wrap:wrap;gap:10px 22px}.map{margin:4px 0}
.map figcaption{font-size:12.5px;margin-bottom:4px;max-width:260px;overflow-wrap:anywhere}
.map img{display:block;image-rendering:pixelated;border:1px solid var(--rule);max-width:100%;height:auto}
.ramp{display:flex;align-items:center;gap:6px;font-size:11.5px;color:var(--soft);margin-top:4px;
font-variant-numeric:tabular-nums}
.ramp span{white-space:nowrap}.ramp i{flex:0 1 110px;min-width:60px;height:8px;border-radius:2px}
.not-finite{display:inline-block;width:9px;height:9px;background:#dc0082;margin-right:5px}
.pair{display:flex;flex-wrap:wrap;gap:18px;align-items:flex-start}.pair>.scroll{flex:1 1 320px}
.sample{image-rendering:pixelated;width:140px;height:140px;object-fit:contain;background:#000;
border-radius:6px;display:block}
.error{border-left:3px solid var(--bad);padding:4px 10px;margin:6px 0;background:var(--panel);
white-space:pre-wrap;overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 16px;margin:0 0 12px}dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
ol,ul{padding-left:20px}li{margin:4px 0}
footer{margin-top:34px;color:var(--soft);font-size:12.5px;border-top:1px solid var(--rule);padding-top:8px}
@media(max-width:560px){th,td{padding:4px 7px}main{padding:14px 10px 36px}
.maps{flex-wrap:nowrap;gap:8px}.map{flex:1 1 0;min-width:0}.map img{width:100%}.ramp{gap:3px;font-size:10px}
.ramp i{min-width:12px}}
@media print{:root{color-scheme:light;--bg:#fff;--panel:#f6f7f9;--ink:#000;--soft:#444;--rule:#ccc;
--accent:#0f766e;
--good:#2a6848;--warn:#8a5000;--bad:#b3261e;--s0:#1f5fa8;--s1:#c2570c;--s2:#2b7a5a;--s3:#8a4bab;--s4:#59616b;
--s5:#8a6d00}
@page{margin:13mm}@page wide{size:A4 landscape;margin:10mm}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
.skip{display:none}.scroll{overflow:visible;border:0}main{max-width:none;padding:0}.chart{min-width:0}
table{font-size:9.5px}th,td{padding:2px 4px}tr>:first-child{position:static}
.wide{page:wide}.layers table{font-size:7.5px}.layers th,.layers td{padding:1px 3px}.layers .bar{display:none}
thead{display:table-header-group}h2,h3{break-after:avoid}tr,figure,.layer{break-inside:avoid}
.map img{max-width:52mm}}
)css";
  std::string style = std::string(rules) + ".sequential{background:" + css_gradient(sequential_palette()) +
                      "}.diverging{background:" + css_gradient(diverging_palette()) + "}\n";
  for (int percent = 0; percent <= 100; ++percent)  // of a bar
    style += fmt::format(".w{0}{{width:{0}%}}", percent);
  return style;
}

}  // namespace driftscope
