// One `driftscope serve`: files, runs on the PC as a page asks for them, traces that are sent, and clients
// that ask for nothing sensible or hang up.
import { mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";

import { asset, sha256 } from "../../e2e/support.mjs";
import { packMessage, unpackMessage } from "../../../web/shared/message.mjs";
import { launch, until } from "../programs.mjs";
import { Subject } from "../subject.mjs";
import { descriptors, descriptorsText, pss, threads } from "../watch/procfs.mjs";

const engines = ["pc/strict", "pc/strict", "pc/fast", "pc/reference"];
const models = ["lenet1", "lenet5"];
const codings = ["identity", "gzip", "br"];

export class Server extends Subject {
  #seen = new Map(); // what was asked → digest of the first answer
  #model = new Map();
  #files;

  constructor(soak) {
    super(soak, "server");
    const of = (read) => () => (this.pid ? read(this.pid) : undefined);
    this.curves = [
      { name: "server memory", kind: "bytes", read: of(pss) },
      { name: "server descriptors", kind: "count", read: of(descriptors) },
      { name: "server threads", kind: "count", read: of(threads) },
    ];
    this.folder = soak.folder("server");
    this.traces = join(this.folder, "traces");
  }

  async start() {
    const site = this.soak.environment.DRIFTSCOPE_SITE;
    const engine = readdirSync(join(site, "engine")).filter((name) => /\.(wasm|mjs|json)$/.test(name));
    const pages = ["", "web/page/page.mjs", "web/page/style.css", "assets/models.json"];
    this.#files = [...pages, ...engine.map((name) => `engine/${name}`)];
    for (const model of models) this.#model.set(model, readFileSync(asset("models", `${model}.onnx`)));
    await this.#serve();
    const made = await this.#sendTrace();
    this.soak.results.keep(made);
  }

  async #serve() {
    // A server that is killed may leave what it was writing, under another name.
    mkdirSync(this.traces, { recursive: true });
    for (const name of readdirSync(this.traces).filter((one) => !one.endsWith(".safetensors")))
      rmSync(join(this.traces, name));
    const args = ["serve", "--port", "0", "--traces", this.traces];
    this.run = launch(this.soak, args, { folder: this.folder, limit: 1 << 30 });
    const { child, output } = this.run;
    const ended = () => child.exitCode !== null || child.signalCode !== null;
    this.url = await until(() => {
      if (ended()) throw new Error(`the server ended at its start: ${output.stderr}`);
      return /http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]+\//.exec(output.stdout)?.[0];
    }, "the server's address");
    this.life += 1;
    child.once("exit", () => (this.pid = undefined));
    // What a server keeps of its files is not a leak: it has all of them before its curves begin.
    for (const path of this.#files) for (const coding of codings) await this.#file(path, coding);
    this.pid = child.pid;
    this.soak.event(`server: process ${child.pid}, ${descriptorsText(child.pid)}`);
  }

  lastWords() {
    return `${this.run.output.stderr}\n${this.pid ? descriptorsText(this.pid) : "the server has ended"}`;
  }

  async recover() {
    if (!this.pid) await this.#serve();
  }

  async step() {
    if (!this.pid) throw new Error("the server has ended");
    const kind = this.random.weighted([
      ["file", 4],
      ["run", 4],
      ["trace", 1],
      ["nonsense", 1],
      ["hang up", 1],
    ]);
    if (kind === "file") await this.#file(this.random.pick(this.#files), this.random.pick(codings));
    else if (kind === "run") await this.#run();
    else if (kind === "trace") this.soak.results.keep(await this.#sendTrace());
    else if (kind === "nonsense") await this.#nonsense();
    else await this.#hangUp();
    await this.soak.sleep(this.random.between(20, 150));
  }

  /** The same question has the same answer as the first time. */
  #same(question, bytes) {
    const digest = sha256(bytes);
    if (!this.#seen.has(question)) this.#seen.set(question, digest);
    else if (this.#seen.get(question) !== digest) throw new Error(`${question}: another answer than before`);
  }

  async #file(path, coding) {
    const { status, body } = await this.ask("GET", path, { headers: { "Accept-Encoding": coding } });
    if (status !== 200) throw new Error(`GET ${path}: ${status}`);
    this.#same(`GET ${path} as ${coding}`, body);
  }

  async #exchange(run, head, parts = []) {
    const { status, body } = await this.ask("POST", `api/pc?run=${run}`, { body: packMessage(head, parts) });
    if (status !== 200) throw new Error(`api/pc: ${status} ${body}`);
    const reply = unpackMessage(new Uint8Array(body));
    if (reply.head.error) throw new Error(`api/pc, ${head.do}: ${reply.head.error.message}`);
    return reply;
  }

  async #run() {
    const model = this.random.pick(models);
    const target = this.random.pick(engines);
    const run = `soak-${this.runs}-${this.life}`;
    try {
      await this.#exchange(run, { do: "load", target, attachments: [], once: true }, [
        this.#model.get(model),
      ]);
    } catch (error) {
      if (/another page's run is under way/.test(error.message)) return; // the page's own
      throw error;
    }
    const start = { do: "start", target, repeat: 1, capture: "all", seed: 42, stream: false };
    await this.#exchange(run, { ...start, environment: { host: "pc" } });
    for (let finished = false; !finished;)
      ({ finished } = (await this.#exchange(run, { do: "poll", budget_ms: 200 })).head);
    const { head } = await this.#exchange(run, { do: "finish" });
    this.#same(`${model} on ${target}`, JSON.stringify(head.outputs));
  }

  /** The trace is saved with the bytes that were sent; where. */
  async #sendTrace() {
    const { body } = await this.ask("POST", "api/traces", { body: this.soak.trace });
    const { saved, error } = JSON.parse(body);
    if (!saved) throw new Error(`a trace was not saved: ${error}`);
    if (!readFileSync(saved).equals(this.soak.trace))
      throw new Error(`${saved} has other bytes than were sent`);
    return saved;
  }

  async #nonsense() {
    const asked = this.random.pick([
      ["GET", "no/such/file", 404],
      ["GET", "../../etc/passwd", 404],
      ["POST", "api/traces", 400],
    ]);
    const [method, path, expected] = asked;
    const { status } = await this.ask(method, path, {
      body: method === "POST" ? Buffer.from("nonsense") : null,
    });
    if (status !== expected) throw new Error(`${method} ${path}: ${status} instead of ${expected}`);
  }

  /** A client that disconnects in the middle of a request; nothing half-written may stay. */
  async #hangUp() {
    await new Promise((resolve) => {
      const { trace } = this.soak;
      const asked = this.#open("POST", "api/traces", { "Content-Length": trace.length });
      asked.on("error", resolve).on("close", resolve);
      asked.write(trace.subarray(0, trace.length >> 1), () => asked.destroy());
    });
    await this.nothingUnfinished();
  }

  /** Another client's trace may be in transit; after some seconds only whole ones may be there. */
  nothingUnfinished() {
    const unfinished = () => readdirSync(this.traces).filter((name) => !name.endsWith(".safetensors"));
    return until(() => unfinished().length === 0, `unfinished traces to go: ${unfinished()}`, 10_000);
  }

  #open(method, path, headers) {
    const url = new URL(this.url);
    return request({
      host: "127.0.0.1",
      port: url.port,
      path: url.pathname + path,
      method,
      headers,
      agent: false,
    });
  }

  /** {status, body}; its own connection each time, which the server must give back. */
  ask(method, path, { headers = {}, body } = {}) {
    return new Promise((resolve, reject) => {
      const asked = this.#open(method, path, body ? { ...headers, "Content-Length": body.length } : headers);
      asked.setTimeout(60_000, () => asked.destroy(new Error(`${method} ${path}: no answer within 60 s`)));
      asked.on("error", reject);
      asked.on("response", (response) => {
        const parts = [];
        response.on("data", (part) => parts.push(part));
        response.on("error", reject);
        response.on("end", () => resolve({ status: response.statusCode, body: Buffer.concat(parts) }));
      });
      asked.end(body ?? undefined);
    });
  }

  async end() {
    if (!this.pid) return;
    this.run.child.kill("SIGTERM");
    const { status, signal } = await this.run.done;
    if (status !== 0 && signal !== "SIGTERM")
      this.soak.find(this.name, `ended with ${status ?? signal}`, this.run.output.stderr);
  }
}
