// The report's style sheet. One accent colour; a verdict is told by its symbol and word first.
#pragma once

namespace driftscope {

inline constexpr const char* report_style = R"css(
:root{color-scheme:light dark;--bg:#fff;--panel:#f6f7f9;--ink:#1c2024;--soft:#60666d;--rule:#e1e4e8;
--accent:#0f766e;--good:#2f6f4f;--warn:#9a5b00;--bad:#b3261e;--s0:#2b6cb0;--s1:#c2570c;--s2:#2f7d5b;--s3:#7d4fa8}
@media(prefers-color-scheme:dark){:root{--bg:#15181c;--panel:#1d2126;--ink:#e6e8ea;--soft:#9aa2ab;--rule:#30363d;
--accent:#45bdb3;--good:#7cc6a0;--warn:#e3b161;--bad:#f2938c;--s0:#6ea8e6;--s1:#f0995a;--s2:#74c7a0;--s3:#bf95e6}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:1120px;margin:0 auto;padding:20px 16px 48px}
h1{font-size:21px;line-height:1.25;margin:0 0 4px}h2{font-size:15px;margin:30px 0 8px}
.headline{font-size:16px;margin:0 0 10px}.soft{color:var(--soft)}
code{font:12.5px/1.4 ui-monospace,"DejaVu Sans Mono",Menlo,monospace;overflow-wrap:anywhere}
pre{background:var(--panel);padding:10px 12px;border-radius:6px;margin:6px 0;white-space:pre-wrap}
.scroll{overflow-x:auto;border:1px solid var(--rule);border-radius:6px}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:13px}
th,td{padding:4px 10px;text-align:right;white-space:nowrap;border-bottom:1px solid var(--rule)}
tr:last-child td{border-bottom:0}
th{color:var(--soft);font-weight:600;background:var(--panel);vertical-align:bottom}
th:first-child,td:first-child{text-align:left;position:sticky;left:0;background:var(--bg)}
th:first-child{background:var(--panel)}
td.text,th.text{text-align:left}td.wrap{white-space:normal;min-width:190px}
.first-row td,.first-row td:first-child{background:color-mix(in srgb,var(--bad) 12%,var(--bg))}
.v-identical{color:var(--good)}.v-rounding{color:var(--ink)}.v-suspect{color:var(--warn);font-weight:600}
.v-fault{color:var(--bad);font-weight:700}.v-missing{color:var(--soft)}
.bar{display:inline-block;width:52px;height:8px;margin-left:7px;border-radius:2px;background:var(--rule);overflow:hidden;vertical-align:baseline}
.bar i{display:block;height:100%;background:var(--accent)}.bar.over i{background:var(--bad)}.bar.wide{width:110px}
figure{margin:12px 0 18px}figcaption{margin-bottom:4px}figcaption b{font-weight:600}
.chart{width:100%;height:auto;display:block;border:1px solid var(--rule);border-radius:6px}
.grid{stroke:var(--rule);stroke-width:1}.tick,.unit{fill:var(--soft);font-size:10.5px}
.limit{stroke:var(--bad);stroke-width:1;stroke-dasharray:5 4}.limit-text{fill:var(--bad)}
.series .line{fill:none;stroke-width:1.4;opacity:.8}
.s0{fill:var(--s0);stroke:var(--s0)}.s1{fill:var(--s1);stroke:var(--s1)}.s2{fill:var(--s2);stroke:var(--s2)}.s3{fill:var(--s3);stroke:var(--s3)}
.legend{display:flex;flex-wrap:wrap;gap:4px 16px;margin-top:6px;font-size:12.5px;color:var(--soft)}
.legend svg{margin-right:5px;vertical-align:-1px}
.pair{display:flex;flex-wrap:wrap;gap:18px;align-items:flex-start}
.pair>.scroll{flex:1 1 320px}
.sample{image-rendering:pixelated;width:140px;height:140px;object-fit:contain;background:#000;border-radius:6px;display:block}
.error{border-left:3px solid var(--bad);padding:4px 10px;margin:6px 0;background:var(--panel);white-space:pre-wrap}
footer{margin-top:34px;color:var(--soft);font-size:12.5px}
@media print{:root{color-scheme:light}.scroll{overflow:visible;border:0}main{max-width:none;padding:0}table{font-size:10px}th,td{padding:2px 5px}h2{break-after:avoid}tr,figure{break-inside:avoid}}
@media(max-width:560px){th,td{padding:4px 7px}main{padding:14px 10px 36px}}
)css";

}  // namespace driftscope
