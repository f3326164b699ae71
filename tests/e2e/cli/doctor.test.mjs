// driftscope doctor MODEL --page URL: a good page, each fault of a bad one, and servers that never end.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { asset, driftscope, run, temporaryFolder } from "../support.mjs";
import { onnxModel } from "../onnx_model.mjs";
import { interfaceValue, number, part, text } from "../tiny_onnx.mjs";

// The server is in this process: the program must not block it.
async function doctor(...args) {
  const child = spawn(driftscope, ["doctor", ...args], { env: { ...process.env, NO_COLOR: "1" } });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (data) => (stdout += data));
  child.stderr.on("data", (data) => (stderr += data));
  const [status] = await once(child, "close");
  return { status, stdout, stderr };
}

// files: {path: {type, body, headers, status}} or a function of request and response.
async function serve(t, files) {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(request);
    const file = files[request.url];
    if (typeof file === "function") return file(request, response);
    const { status = file ? 200 : 404, type = "text/plain", body = "", headers = {} } = file ?? {};
    response.writeHead(status, {
      "content-type": type,
      "content-length": Buffer.byteLength(body),
      ...headers,
    });
    response.end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${server.address().port}`, asked };
}

const isolated = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
};
const gzip = (plain) => ({ body: gzipSync(plain), headers: { "content-encoding": "gzip", etag: '"1"' } });
const megabyte = Buffer.alloc(1 << 20, 1);

const good = {
  "/": {
    type: "text/html",
    headers: isolated,
    body: '<!doctype html><script type="module" src="app/main.mjs"></script>',
  },
  "/app/main.mjs": { type: "text/javascript", ...gzip('fetch("net.onnx"); import("./engine.mjs");') },
  "/app/engine.mjs": { type: "text/javascript", ...gzip('const file = "engine.wasm";') },
  "/net.onnx": { type: "application/octet-stream", ...gzip(megabyte) },
};

test("Doctor_GoodPage_HasNoFindings", async (t) => {
  const { url, asked } = await serve(t, good);
  const { status, stdout, stderr } = await doctor("--page", `${url}/`, "--json", "-");
  assert.equal(status, 0, stderr);
  const { deployment } = JSON.parse(stdout);
  assert.deepEqual(deployment.findings, []);
  assert.equal(deployment.page, `${url}/`);
  // A name in a script is one of the script's folder or of the page's; scripts of scripts are not read.
  assert.deepEqual(
    deployment.files.map((file) => file.slice(url.length)),
    ["/", "/app/main.mjs", "/net.onnx", "/app/engine.mjs"],
  );
  const deeper = JSON.parse(
    (await doctor("--page", `${url}/`, "--script-levels", "2", "--json", "-")).stdout,
  );
  assert.deepEqual(
    deeper.deployment.findings.map(({ check, where }) => `${check} ${where.slice(url.length)}`),
    ["missing_files /app/engine.wasm"],
  );
  for (const request of asked) {
    assert.equal(request.method, "GET");
    assert.equal(request.headers.cookie, undefined);
    assert.match(request.headers["accept-encoding"], /br/);
  }
});

test("Doctor_BadPage_EachFaultOnce", async (t) => {
  const cookie = { "set-cookie": "a=b" };
  const { url, asked } = await serve(t, {
    "/": (request, response) => response.writeHead(302, { location: "/demo/", ...cookie }).end(),
    "/demo/": {
      type: "text/html",
      headers: { ...cookie, "content-security-policy": "default-src 'self'" },
      body: '<script src="gone.js"></script><script type=module src=main.mjs></script>',
    },
    "/demo/main.mjs": { type: "text/plain", body: 'load("a.wasm"); load("net.onnx"); load("later.wasm")' },
    "/demo/a.wasm": { type: "application/octet-stream", body: megabyte },
    "/demo/net.onnx": {
      type: "application/octet-stream",
      body: megabyte,
      headers: { "cache-control": "no-store" },
    },
  });
  const { status, stdout } = await doctor("--page", url, "--json", "-", "--max-start", "0.5", "--mbit", "20");
  assert.equal(status, 1);
  const { findings } = JSON.parse(stdout).deployment;
  const found = findings.map(({ severity, check, where }) => [severity, check, where.replace(url, "")]);
  assert.deepEqual(found.sort(), [
    ["error", "content_security_policy", "/demo/"],
    ["error", "mime_type", "/demo/main.mjs"],
    ["error", "missing_files", "/demo/gone.js"],
    ["note", "compression", "/demo/net.onnx"],
    ["note", "missing_files", "/demo/later.wasm"],
    ["warning", "caching", "/demo/a.wasm"],
    ["warning", "caching", "/demo/net.onnx"],
    ["warning", "compression", "/demo/a.wasm"],
    ["warning", "isolation", "/demo/"],
    ["warning", "mime_type", "/demo/a.wasm"],
    ["warning", "page_weight", "/demo/a.wasm"],
  ]);
  for (const { shows, why, fix } of findings) assert.ok(shows && why && fix);
  for (const request of asked) assert.equal(request.headers.cookie, undefined);
  const shown = await doctor("--page", url);
  assert.match(shown.stdout, /^does not work \(3\)\n[^]*\nworks badly \(\d\)\n[^]*\nworth knowing \(2\)\n/);
});

test("Doctor_ServersWithoutEnd_AreErrors", async (t) => {
  const { url } = await serve(t, {
    "/circle": (request, response) => response.writeHead(302, { location: "/circle2" }).end(),
    "/circle2": (request, response) => response.writeHead(302, { location: "/circle" }).end(),
    "/long": (request, response) => {
      response.writeHead(200, { "content-type": "text/html" });
      const more = () => {
        while (!response.destroyed && response.write(megabyte));
        response.once("drain", more);
      };
      more();
    },
    "/bomb": { type: "text/html", ...gzip(Buffer.alloc(32 << 20, 32)) },
    "/file": (request, response) => response.writeHead(302, { location: "file:///etc/passwd" }).end(),
  });
  const failure = async (page, pattern) => {
    const { status, stdout, stderr } = await doctor("--page", page);
    assert.equal(status, 2, page);
    assert.equal(stdout, "");
    assert.match(stderr, pattern);
  };
  await failure(`${url}/circle`, /the redirects lead in a circle, back to .*\/circle;/);
  await failure(`${url}/long`, /its text has more than 8\.\d+ MB/);
  await failure(`${url}/bomb`, /its text has more than 8\.\d+ MB/);
  await failure(`${url}/file`, /its scheme is 'file'; expected http/);
  await failure("http://127.0.0.1:1/", /no connection/);
  await failure("page.html", /not a URL that can be fetched: it has no scheme/);
  await failure(url.replace("http:", "https:"), /TLS failed|ended early|certificate/);
});

const relu = onnxModel({
  nodes: [["Relu", ["x"], ["y"]]],
  inputs: { x: { dtype: "float32", shape: ["N", 3, 8, 8] } },
  outputs: { y: { dtype: "float32" } },
});

test("Doctor_Model_TargetsSizesAndExitCodes", (t) => {
  const cwd = temporaryFolder(t);
  writeFileSync(join(cwd, "net.onnx"), relu);
  const findings = (...args) => {
    const { status, stdout, stderr } = run(["doctor", "net.onnx", ...args, "--json", "-"], { cwd });
    assert.ok(status < 2, stderr);
    const { deployment } = JSON.parse(stdout);
    return { status, deployment, checks: deployment.findings.map(({ check }) => check) };
  };
  const usual = findings();
  assert.equal(usual.status, 0);
  assert.ok(usual.deployment.targets.includes("chrome/webgpu"));
  assert.deepEqual(usual.checks, ["dynamic_shapes", "preprocessing"]);
  const large = findings("--targets", "chrome/strict", "--dim", "N=2000000");
  assert.deepEqual(large.checks, ["memory", "dynamic_shapes", "preprocessing"]);
  writeFileSync(join(cwd, "net.preprocess.json"), '{"format": "driftscope-preprocess-1"}');
  const described = findings("--targets", "pc/strict");
  assert.equal(described.status, 1);
  assert.match(described.deployment.findings[0].why, /layout is missing/);
  const wrong = run(["doctor", "net.onnx", "--targets", "chrome/nothing"], { cwd });
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /there is no engine/);
  assert.match(run(["doctor", "--targets", "pc/strict"], { cwd }).stderr, /requires MODEL/);
});

// x + w, with w in a file beside the model.
const external = Buffer.concat([
  number(1, 8),
  part(
    7,
    part(1, text(1, "x"), text(1, "w"), text(2, "y"), text(3, "sum"), text(4, "Add")),
    text(2, "graph"),
    part(
      5,
      number(1, 4),
      number(2, 1),
      text(8, "w"),
      part(13, text(1, "location"), text(2, "w.bin")),
      number(14, 1),
    ),
    interfaceValue(11, "x", [4]),
    interfaceValue(12, "y", [4]),
  ),
  part(8, number(2, 13)),
]);

test("Doctor_ExternalData_MissingHereAndOnThePage", async (t) => {
  const cwd = temporaryFolder(t);
  const path = join(cwd, "net.onnx");
  writeFileSync(path, external);
  const files = { ...good, "/net.onnx": { type: "application/octet-stream", ...gzip(external) } };
  const { url } = await serve(t, files);
  const found = async () => {
    const { status, stdout } = await doctor(path, "--page", `${url}/`, "--json", "-");
    const { deployment } = JSON.parse(stdout);
    return {
      status,
      checks: deployment.findings.map(({ check, where }) => `${check} ${where.replace(url, "")}`),
    };
  };
  // It cannot be read, and what can be known is said all the same.
  assert.deepEqual(await found(), { status: 2, checks: ["external_data w.bin", "missing_files /w.bin"] });
  writeFileSync(join(cwd, "w.bin"), Buffer.alloc(16));
  assert.deepEqual(await found(), { status: 1, checks: ["missing_files /w.bin"] });
  files["/w.bin"] = { type: "application/octet-stream", body: Buffer.alloc(16), headers: { etag: '"1"' } };
  assert.deepEqual(await found(), { status: 0, checks: [] });
});

test("Doctor_OperatorThatIsUnknown_NamesNodesAndTargets", (t) => {
  const cwd = temporaryFolder(t);
  const magic = onnxModel({
    nodes: [
      ["Magic", ["x"], ["a"]],
      ["Magic", ["a"], ["y"]],
    ],
    inputs: { x: { dtype: "float32", shape: [4] } },
    outputs: { y: { dtype: "float32" } },
  });
  writeFileSync(join(cwd, "net.onnx"), magic);
  const { status, stdout } = run(
    ["doctor", "net.onnx", "--targets", "chrome/fast,node/strict", "--json", "-"],
    { cwd },
  );
  assert.equal(status, 1);
  const [finding] = JSON.parse(stdout).deployment.findings;
  assert.deepEqual([finding.check, finding.where, finding.count], ["operators", "Magic_a", 2]);
  assert.deepEqual(finding.targets, ["chrome/fast", "node/strict"]);
  // Nothing was checked of what cannot be read.
  writeFileSync(join(cwd, "net.onnx"), "no model");
  const unreadable = run(["doctor", "net.onnx"], { cwd });
  assert.equal(unreadable.status, 2);
  assert.doesNotMatch(unreadable.stdout, /deployment/);
});

test("Doctor_ModelOfTheProject_IsAnsweredByText", () => {
  const { status, stdout } = run(["doctor", asset("models", "lenet5.onnx")]);
  assert.equal(status, 0);
  assert.match(stdout, /dynamic_shapes: .*\n {4}where: input \(float32 Nx1x28x28\)\n {4}why: /);
});
