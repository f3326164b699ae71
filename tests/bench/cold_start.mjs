// The page's cold start: from the address to the first comparison of two engines on the screens, and the
// bytes that came over the wire for it, in each browser, each time with an empty profile.
//
//   node tests/bench/cold_start.mjs [REPETITIONS]
import { createServer, request as httpRequest } from "node:http";
import { text } from "node:stream/consumers";

import { chromium } from "playwright-core";

import { start, until } from "../e2e/support.mjs";
import { openIn } from "../web/page/other_browsers.mjs";

const repetitions = Number(process.argv[2] ?? 5);
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];

// Reports when the engines have run (the table is there), and when their comparison has been drawn.
const probe = `{
  const look = () => {
    const { dataset } = document.getElementById("screens") ?? {};
    if (dataset?.targets !== "2" || dataset.busy !== "false" || dataset.view !== "Layers")
      return requestAnimationFrame(look);
    const seen = { ms: performance.now(), error: dataset.error, layer: dataset.layer };
    fetch("probe", { method: "POST", body: JSON.stringify(seen) });
  };
  requestAnimationFrame(look);
}`;

/** A test context for functions of other tests: after() runs at close(). */
function scope() {
  const last = [];
  return {
    after: (action) => last.push(action),
    close: async () => {
      for (const action of last.reverse()) await action();
    },
  };
}

/** A proxy in front of `driftscope serve` that counts the bytes and adds the probe to the page. */
async function countingServer(upstream) {
  const counts = { bytes: 0, requests: 0 };
  let post;
  const posted = new Promise((resolve) => (post = resolve));
  const page = new URL(upstream);
  const server = createServer((request, response) => {
    if (request.url.endsWith("/probe"))
      return text(request)
        .then((body) => post(JSON.parse(body)))
        .finally(() => response.end());
    if (request.url.endsWith("/probe.js"))
      return response.writeHead(200, { "Content-Type": "text/javascript" }).end(probe);
    const isPage = new URL(request.url, upstream).pathname === page.pathname;
    const headers = { ...request.headers, host: page.host };
    if (headers.origin) headers.origin = page.origin; // the server responds only to its own page
    if (isPage) delete headers["accept-encoding"];
    const forwarded = httpRequest(
      { host: page.hostname, port: page.port, path: request.url, method: request.method, headers },
      async (answer) => {
        ++counts.requests;
        answer.on("data", (data) => (counts.bytes += data.length));
        if (!isPage) return answer.pipe(response.writeHead(answer.statusCode, answer.headers));
        const html = await text(answer);
        const { "content-length": _, ...rest } = answer.headers;
        response
          .writeHead(answer.statusCode, rest)
          .end(html.replace("<script ", '<script src="probe.js"></script>\n<script '));
      },
    );
    forwarded.on("error", () => response.destroy());
    request.pipe(forwarded);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const link = "#model=lenet5&targets=strict,fast&view=Layers";
  const url = `http://127.0.0.1:${server.address().port}${page.pathname}${link}`;
  return { url, posted, counts, close: () => (server.close(), server.closeAllConnections()) };
}

const openers = {
  async chrome(t, url) {
    const browser = await chromium.launch({
      executablePath: process.env.DRIFTSCOPE_CHROME ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-quic", "--enable-unsafe-swiftshader"],
    });
    t.after(() => browser.close());
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(url);
  },
  firefox: async (t, url) => void openIn(t, "firefox", url),
  safari: async (t, url) => void openIn(t, "safari", url),
};

for (const [browser, open] of Object.entries(openers)) {
  const times = [];
  const whole = [];
  let counts;
  for (let i = 0; i < repetitions; ++i) {
    const t = scope();
    const served = start(["serve", "--port", "0"]);
    t.after(async () => {
      served.child.kill("SIGTERM");
      await served.done;
    });
    try {
      const upstream = await until(
        () => /http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]+\//.exec(served.output.stdout)?.[0],
        "the server's URL",
      );
      const counting = await countingServer(upstream);
      t.after(counting.close);
      const begin = performance.now();
      await open(t, counting.url);
      const late = new Promise((_, reject) =>
        setTimeout(reject, 120_000, new Error(`${browser}: nothing was compared in two minutes`)).unref(),
      );
      const seen = await Promise.race([counting.posted, late]);
      if (seen.error) throw new Error(`${browser}: ${seen.error}`);
      times.push(seen.ms);
      whole.push(performance.now() - begin);
      counts = counting.counts;
    } finally {
      await t.close();
    }
  }
  const seconds = (ms) => (ms / 1000).toFixed(2);
  const range = (list) =>
    `${seconds(median(list))} s (${seconds(Math.min(...list))} to ${seconds(Math.max(...list))})`;
  const traffic = `${(counts.bytes / 1e6).toFixed(2)} MB in ${counts.requests} requests`;
  console.log(
    `${browser}: first comparison ${range(times)} after the address, ` +
      `${range(whole)} with the browser's start; ${traffic}; ${repetitions} times`,
  );
}
