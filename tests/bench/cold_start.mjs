// The page's start: from the address to the first table of layers on the screens, and to the end of a
// comparison of two engines, in each browser, each time with an empty profile and then once more with what it
// has kept; and the bytes that came over the wire the first time.
//
//   node tests/bench/cold_start.mjs [REPETITIONS]
import { createServer, request as httpRequest } from "node:http";
import { text } from "node:stream/consumers";

import { chromium } from "playwright-core";

import { start, until } from "../e2e/support.mjs";
import { openIn } from "../web/page/other_browsers.mjs";

const repetitions = Number(process.argv[2] ?? 5);
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];

// Reports when the table of the first target was drawn, and when all has ended, here and after loading again.
const probe = `{
  let tableMs = 0;
  const look = () => {
    const { dataset } = document.getElementById("screens") ?? {};
    if (!tableMs && dataset?.targets >= 1 && dataset.view === "Layers") tableMs = performance.now();
    if (dataset?.targets !== "2" || dataset.busy !== "false" || dataset.view !== "Layers")
      return requestAnimationFrame(look);
    const seen = { tableMs, endMs: performance.now(), error: dataset.error };
    const again = sessionStorage.again;
    sessionStorage.again = true;
    fetch("probe", { method: "POST", body: JSON.stringify(seen) }).then(() => again || location.reload());
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
  const posts = []; // what the probe saw: cold, then warm, and the bytes until then
  let post;
  const posted = new Promise((resolve) => (post = resolve));
  const page = new URL(upstream);
  const server = createServer((request, response) => {
    if (request.url.endsWith("/probe"))
      return text(request)
        .then((body) => posts.push({ ...JSON.parse(body), ...counts }) === 2 && post(posts))
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
  return { url, posted, close: () => (server.close(), server.closeAllConnections()) };
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
  const seen = [];
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
      await open(t, counting.url);
      const late = new Promise((_, reject) =>
        setTimeout(reject, 120_000, new Error(`${browser}: nothing was compared in two minutes`)).unref(),
      );
      const posts = await Promise.race([counting.posted, late]);
      for (const { error } of posts) if (error) throw new Error(`${browser}: ${error}`);
      seen.push(posts);
    } finally {
      await t.close();
    }
  }
  const seconds = (ms) => (ms / 1000).toFixed(2);
  const range = (list) =>
    `${seconds(median(list))} s (${seconds(Math.min(...list))} to ${seconds(Math.max(...list))})`;
  const [{ bytes, requests }] = seen.at(-1);
  for (const [which, name] of ["cold", "warm"].entries())
    console.log(
      `${browser}, ${name}: first table ${range(seen.map((posts) => posts[which].tableMs))}, ` +
        `two engines compared ${range(seen.map((posts) => posts[which].endMs))}`,
    );
  console.log(`${browser}: ${(bytes / 1e6).toFixed(2)} MB in ${requests} requests; ${repetitions} times`);
}
