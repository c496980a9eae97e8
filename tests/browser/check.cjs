// Opens pages in a headless browser, narrow and wide, light and dark, and says what is wrong with each: a line of JSON per page.
// node check.cjs, with a JSON object on standard input: browser, modules, folder (for screenshots), pages ([name, address, what to
// click first]).
"use strict";

const fs = require("fs");
const path = require("path");

const asked = JSON.parse(fs.readFileSync(0));
const load = (name) => require(require.resolve(name, { paths: [asked.modules] }));
const puppeteer = load("puppeteer-core");
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js", { paths: [asked.modules] }), "utf8");

const VIEWS = [[390, 844], [1280, 900]].flatMap(([width, height]) => ["light", "dark"].map((scheme) => ({ width, height, scheme })));
const TALLEST = 6000, MOST_CONTROLS = 400;
const CONTROLS = "a[href], button, input, select, textarea, summary, [tabindex]";

async function main() {
  const browser = await puppeteer.launch({
    executablePath: asked.browser, headless: true, timeout: 120000, protocolTimeout: 120000,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--allow-file-access-from-files"],
  });
  try {
    for (const asking of asked.pages) console.log(JSON.stringify({ page: asking[0], faults: await look(browser, ...asking) }));
  } finally {
    await browser.close();
  }
}

async function look(browser, name, address, clicked) {
  const faults = [];
  for (const view of VIEWS) {
    const where = `${view.width} px, ${view.scheme}`;
    const page = await browser.newPage();
    page.on("console", (message) => { if (message.type() === "error") faults.push(`${where}: console: ${message.text()}`); });
    page.on("pageerror", (error) => faults.push(`${where}: error: ${error.message ?? error}`));
    page.on("requestfailed", (request) => faults.push(`${where}: not loaded: ${request.url()}`));
    page.on("request", (request) => { if (/^(https?|wss?):/.test(request.url())) faults.push(`${where}: goes to the network: ${request.url()}`); });
    await page.setViewport({ width: view.width, height: view.height });
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: view.scheme }, { name: "prefers-reduced-motion", value: "reduce" }]);
    await page.goto(address, { waitUntil: "load", timeout: 120000 });
    await page.evaluate(() => Promise.all([...document.images].map((image) => { image.loading = "eager"; return image.decode().catch(() => {}); })));
    for (const selector of clicked) await page.click(selector);
    const tall = await page.evaluate(() => document.documentElement.scrollHeight);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    if (wide > view.width) faults.push(`${where}: the page is ${wide} px wide`);
    for (const fault of await page.evaluate(cut)) faults.push(`${where}: cut: ${fault}`);
    await page.screenshot({ path: path.join(asked.folder, `${name}-${view.width}-${view.scheme}.png`), clip: { x: 0, y: 0, width: view.width, height: Math.min(tall, TALLEST) }, captureBeyondViewport: true });
    for (const fault of await audit(page)) faults.push(`${where}: ${fault}`);
    if (view.scheme === "light") for (const fault of await unreached(page)) faults.push(`${where}: Tab does not reach ${fault}`);
    await page.close();
  }
  return faults;
}

// Code that is wider than its box, code in a line that leaves the window, and tables that are wider than their box and cannot be scrolled by
// the keyboard.
function cut() {
  const wider = (e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1;
  const scrolled = (e) => { for (; e; e = e.parentElement) if (/auto|scroll/.test(getComputedStyle(e).overflowX)) return wider(e) && e.tabIndex < 0; return false; };
  const code = [...document.querySelectorAll("pre")].filter(wider), tables = [...document.querySelectorAll("table")].filter(scrolled);
  const left = [...document.querySelectorAll("p code, li code")].filter((e) => !e.closest("table") && e.checkVisibility() && [...e.getClientRects()].some((box) => box.right > innerWidth));
  return [...code, ...left, ...tables].slice(0, 5).map((e) => `${e.scrollWidth || e.offsetWidth} px in ${e.clientWidth || innerWidth}: ${e.textContent.trim().slice(0, 60)}`);
}

// What axe-core finds, contrast AA among it.
async function audit(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run({ preload: false, runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] }));
  return violations.flatMap((rule) => rule.nodes.slice(0, 5).map((node) => `${rule.id}: ${node.target.join(" ")}: ${(node.any[0] ?? node.all[0] ?? node.none[0] ?? {}).message ?? rule.help}`));
}

// Visible controls that no number of Tabs comes to.
async function unreached(page) {
  const n = await page.evaluate((selector) => {
    const shown = (e) => e.checkVisibility({ visibilityProperty: true }) && !e.disabled && e.tabIndex >= 0 && e.getClientRects().length > 0;
    const first = (e) => e.type !== "radio" || e.checked;             // arrows move within a group
    window.awaited = new Set([...document.querySelectorAll(selector)].filter((e) => shown(e) && first(e)));
    document.activeElement.blur();
    scrollTo(0, 0);
    return window.awaited.size;
  }, CONTROLS);
  if (n > MOST_CONTROLS) return [];
  for (let i = 0; i < n + 20; i++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(() => { window.awaited.delete(document.activeElement); return window.awaited.size === 0; })) return [];
  }
  return page.evaluate(() => [...window.awaited].slice(0, 5).map((e) => e.outerHTML.slice(0, 120)));
}

main().catch((error) => { console.error(error); process.exit(1); });
