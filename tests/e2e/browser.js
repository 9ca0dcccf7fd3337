/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * node browser.js CHROMIUM AXE FOLDER PAGE...: opens each page in headless Chromium, at widths of 1280 and 400 pixels, light and dark, and prints
 * for each, with tabs between them:
 *   PAGE WIDTH SCHEME HEIGHT OVERFLOW OVERFLOW-OPEN LINES
 * HEIGHT as the page comes, OVERFLOW how many pixels it is wider than the window, as it comes and with every fold open, LINES of drawn
 * ladders whose letters are too small to be read. What axe-core finds with every fold open (light at 1280, dark at 400), and uncaught errors of the page's
 * scripts, are lines that begin with "finding". Of lines of a list or table that look the same axe sees the first three. FOLDER takes pictures ("": none).
 * On paper of A4, as "paper PAGE OVERFLOW CLOSED TABLES PICTURES": pixels wider than the sheet, folds that are closed and not meant to be, tables
 * whose head is gone as on a small screen, and figures that are not there; the same PICTURES on a screen of 400 pixels is "pictures PAGE PICTURES".
 * It speaks the DevTools protocol through a pipe, so that nothing listens on a port.
 */
"use strict";
const { spawn } = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");

const [chromium, axeFile, folder, ...pages] = process.argv.slice(2);
const axe = fs.readFileSync(axeFile, "utf8");
const home = fs.mkdtempSync(path.join(os.tmpdir(), "browser-"));
const browser = spawn(chromium, ["--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--disable-gpu", "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
  "--disable-backgrounding-occluded-windows", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars",
  "--host-resolver-rules=MAP * ~NOTFOUND", "--user-data-dir=" + home, "about:blank"],
  { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"], env: Object.assign({}, process.env, { HOME: home }) });
const waiting = new Map(), listeners = [];
let number = 0, rest = "", session;

browser.on("error", (error) => { console.error("browser.js: " + error.message); process.exit(2); });
browser.stdio[4].on("data", (data) => {
  const parts = (rest + data).split("\0");
  rest = parts.pop();
  parts.map((part) => JSON.parse(part)).forEach((message) => {
    const answer = waiting.get(message.id);
    if (answer) {
      waiting.delete(message.id);
      if (message.error) answer.no(new Error(answer.method + ": " + message.error.message)); else answer.yes(message.result);
    } else {
      listeners.forEach((listener) => listener(message));
    }
  });
});

function send(method, params) {
  const id = ++number;
  browser.stdio[3].write(JSON.stringify({ id, method, params: params || {}, sessionId: session }) + "\0");
  return new Promise((yes, no) => waiting.set(id, { yes, no, method }));
}

function event(method) {
  return new Promise((yes) => {
    const listener = (message) => {
      if (message.method !== method) return;
      listeners.splice(listeners.indexOf(listener), 1);
      yes(message.params);
    };
    listeners.push(listener);
  });
}

async function evaluate(expression) {
  const answer = await send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
  if (answer.exceptionDetails) throw new Error(JSON.stringify(answer.exceptionDetails.exception));
  return answer.result.value;
}

function runAxe() {
  return evaluate(`axe.run(document, { preload: false, iframes: false, resultTypes: ["violations"] }).then((r) => r.violations.map((v) => v.id + ": " + v.help + ": " +
    v.nodes.length + " of them, first " + v.nodes[0].html.slice(0, 200) + " " + (v.nodes[0].any[0] || v.nodes[0].all[0] || { message: "" }).message))`);
}

async function shot(name) {
  if (!folder) return;
  const picture = await send("Page.captureScreenshot", { format: "png" });
  fs.writeFileSync(path.join(folder, name + ".png"), Buffer.from(picture.data, "base64"));
}

const openAll = "document.querySelectorAll('details').forEach((d) => { d.open = true; })";
const overflow = "document.documentElement.scrollWidth - innerWidth";
const thin = `{
  const seen = {};
  document.querySelectorAll("#tree li, tr[data-v], #v-skip tr, article").forEach((e) => {
    const kind = e.tagName + e.className + e.dataset.v;
    seen[kind] = (seen[kind] || 0) + 1;
    if (seen[kind] > 3) e.remove();
  });
  document.querySelectorAll(".sec").forEach((e) => { if (!e.querySelector("li, tr[data-v]")) e.remove(); });
}`;
const smallLetters = `Array.from(document.querySelectorAll(".ladder text")).filter((t) => t.getClientRects().length &&
  parseFloat(getComputedStyle(t).fontSize) * t.ownerSVGElement.getBoundingClientRect().width / t.ownerSVGElement.viewBox.baseVal.width < 9.5).length`;

async function look(page, width, scheme) {
  const name = path.basename(path.dirname(page)) + "/" + path.basename(page);
  await send("Emulation.setDeviceMetricsOverride", { width, height: width === 400 ? 850 : 900, deviceScaleFactor: 1, mobile: false });
  await send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
  const loaded = event("Page.loadEventFired");
  await send("Page.navigate", { url: "file://" + page });
  await loaded;
  const measured = await evaluate(`[document.documentElement.scrollHeight, ${overflow}]`);
  await shot(name.replace(/[/.]/g, "-") + "-" + width + "-" + scheme);
  await evaluate(openAll);
  measured.push(...await evaluate(`[${overflow}, ${smallLetters}]`));
  await shot(name.replace(/[/.]/g, "-") + "-" + width + "-" + scheme + "-open");
  console.log([name, width, scheme, ...measured].join("\t"));
  if ((width === 1280) !== (scheme === "light")) return;
  await evaluate(thin);
  await evaluate(axe + ";0");
  (await runAxe()).forEach((finding) => console.log(["finding", name, width, scheme, finding].join("\t")));
}

const missing = `Array.from(document.querySelectorAll("figure svg:not(.ladder)")).filter((s) => !s.closest("details:not([open]), .screen") && !s.getClientRects().length).length`;

/* The page as Chromium lays it out for a sheet of A4; its own events for printing are sent as Chromium sends them. */
async function paper(page) {
  const name = path.basename(path.dirname(page)) + "/" + path.basename(page);
  await send("Emulation.setDeviceMetricsOverride", { width: 400, height: 850, deviceScaleFactor: 1, mobile: false });
  await send("Emulation.setEmulatedMedia", { media: "", features: [] });
  const loaded = event("Page.loadEventFired");
  await send("Page.navigate", { url: "file://" + page });
  await loaded;
  console.log(["pictures", name, await evaluate(missing)].join("\t"));
  await send("Emulation.setDeviceMetricsOverride", { width: 718, height: 1000, deviceScaleFactor: 1, mobile: false });
  await send("Emulation.setEmulatedMedia", { media: "print", features: [] });
  await evaluate("dispatchEvent(new Event('beforeprint')), 0");
  const measured = await evaluate(`[${overflow}, Array.from(document.querySelectorAll("details:not([open])")).filter((d) =>
    d.getClientRects().length && !d.closest("#v-amb .card, .screen")).length, Array.from(document.querySelectorAll("thead")).filter((h) =>
    getComputedStyle(h).display === "none").length, ${missing}]`);
  await evaluate("dispatchEvent(new Event('afterprint')), 0");
  console.log(["paper", name, ...measured].join("\t"));
  await send("Emulation.setEmulatedMedia", { media: "", features: [] });
}

async function main() {
  await send("Target.setDiscoverTargets", { discover: true });
  let first;
  while (!first) first = (await send("Target.getTargets")).targetInfos.find((target) => target.type === "page");
  const { targetId } = first;
  session = (await send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
  await send("Page.enable");
  await send("Runtime.enable");
  listeners.push((message) => {
    if (message.method === "Runtime.exceptionThrown") console.log("finding\tscript\t" + message.params.exceptionDetails.exception.description);
  });
  for (const page of pages) {
    for (const width of [1280, 400]) {
      for (const scheme of ["light", "dark"]) await look(path.resolve(page), width, scheme);
    }
    await paper(path.resolve(page));
  }
}

main().then(() => 0, (error) => { console.error("browser.js: " + error.message); return 1; }).then((status) => {
  browser.on("exit", () => { fs.rmSync(home, { recursive: true, force: true }); process.exit(status); });
  browser.kill();
});
