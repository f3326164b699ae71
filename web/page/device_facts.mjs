// What this browser is as a device: for the hub's list, and for the traces of its runs. Clients: device.mjs,
// joining.mjs.
import { environment } from "./capabilities.mjs";

const longestFact = 200;

/** What Chromium tells only when it is asked; {} elsewhere. */
async function askedFacts() {
  const wanted = ["model", "platformVersion", "fullVersionList"];
  return (await navigator.userAgentData?.getHighEntropyValues(wanted).catch(() => null)) ?? {};
}

/** "Chrome 156.0.8078.79": user agents have zeros instead. */
function fullName(here, versions) {
  const [name] = here.browser.split(" ");
  const brands = { Edg: "Microsoft Edge", Chrome: "Google Chrome" };
  const named = (brand) => versions.find((one) => one.brand === brand)?.version;
  const version = named(brands[name]) ?? (name in brands ? named("Chromium") : undefined);
  return version ? `${name} ${version}` : here.browser;
}

async function adapterOf() {
  const info = (await navigator.gpu?.requestAdapter().catch(() => null))?.info;
  if (!info) return null;
  const parts = [info.vendor, info.architecture, info.device, info.description].filter(Boolean);
  const text = [...new Set(parts)].join(" ").slice(0, longestFact);
  return text || "not named by the browser";
}

function rendererOf() {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return null;
  const unmasked = gl.getExtension("WEBGL_debug_renderer_info")?.UNMASKED_RENDERER_WEBGL;
  const name = gl.getParameter(unmasked ?? gl.RENDERER);
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return String(name).slice(0, longestFact);
}

/** What it is, in words that its owner knows: "Pixel 8"; "" where the browser does not say. */
async function identityOf(here) {
  const { userAgent, maxTouchPoints = 0 } = navigator;
  const {
    model,
    platform,
    platformVersion,
    fullVersionList = [],
  } = {
    platform: navigator.userAgentData?.platform,
    ...(await askedFacts()),
  };
  const known = /iPhone|iPad|Android|Windows|Mac OS X|CrOS|Linux/.exec(userAgent)?.[0] ?? "";
  // An iPad says that it is a Mac, which has no touch screen.
  const isPad = known === "Mac OS X" && maxTouchPoints > 1;
  return {
    browser: fullName(here, fullVersionList),
    model: model || (isPad ? "iPad" : /iPhone|iPad/.test(known) ? known : ""),
    platform: platform ? `${platform} ${platformVersion ?? ""}`.trim() : isPad ? "iPadOS" : known,
  };
}

/** A name for it, as the hub would write it. */
export async function suggestedName(here) {
  const { model, platform } = await identityOf(here);
  const name = (model || platform || here.host).toLowerCase();
  return (
    name
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "")
      .slice(0, 32) || here.host
  );
}

/** Of the browser and what it computes on, for its runs, beside the facts of every run (capabilities.mjs). */
export const identify = async (here) => ({
  browser: (await identityOf(here)).browser,
  adapter: await adapterOf(),
  renderer: rendererOf(),
});

/** All that the hub lists. */
export const describe = async (here, variant) => ({
  ...(await identityOf(here)),
  ...environment(here, variant),
  width: screen.width,
  height: screen.height,
  pixel_ratio: devicePixelRatio,
});
