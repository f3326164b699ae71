// Compiles shaders as the page does, some at a time, and posts what went wrong: the page of
// browsers.test.mjs. ?api=webgpu or ?api=webgl.
import { Devices } from "./devices.mjs";

const together = 16;
const api = new URL(location.href).searchParams.get("api");
const devices = new Devices();
let device = 0;

function ask(what, more = {}, data = new Uint8Array()) {
  const answer = devices.request({ do: what, device, at: 0, size: data.length, ...more }, data);
  if (answer.error) throw new Error(answer.error.message);
  return answer;
}

/** Until all that was asked for is compiled. */
async function ready() {
  for (;;) {
    const look = devices.request({ do: "look", device }, new Uint8Array());
    if (look.error) throw new Error(look.error.message);
    if (look.ready) return look;
    await devices.settled();
  }
}

async function compile(shaders) {
  try {
    for (const [id, { file, code }] of shaders)
      ask("program", { id: id + 1, label: file }, new TextEncoder().encode(code));
    await ready();
    return [];
  } catch ({ message }) {
    device += 1; // the one before is lost
    ask("open", { api });
    await ready();
    if (shaders.length === 1) return [{ ...shaders[0][1], message }];
    const wrong = [];
    for (const one of shaders) wrong.push(...(await compile([one])));
    return wrong;
  }
}

async function all() {
  const shaders = await (await fetch(`${api}.json`)).json();
  if (!devices.available(api)) throw new Error(`this browser has no ${api}`);
  ask("open", { api });
  const { facts } = await ready();
  const wrong = [];
  for (let i = 0; i < shaders.length; i += together)
    wrong.push(...(await compile([...shaders.entries()].slice(i, i + together))));
  return { device: facts.name, compiled: shaders.length, wrong };
}

const result = await all().catch(({ message }) => ({ error: message }));
await fetch("result", { method: "POST", body: JSON.stringify(result) });
