/**
 * Opens pages in Firefox, through WebDriver BiDi, and says what happened on each.
 *
 * In:  as JSON on standard input: `firefox` (its path), `init` (a script to run before each page's own), `folder` for
 *      pictures, `patience` in ms, and `pages`: a name and an address each; `changes` where the text of a
 *      selector must change while the page is looked at; `press` and `shows` where a press on one selector must bring
 *      another one, after `choose` (the selector of a list, and a value of it) and `drag` (a selector, and places in it
 *      from 0 to 1 that the pointer draws through); `says`, a selector and the text that it must have in the end; `point`, places in a selector at which the text of `reads` and the
 *      canvas `looks` are kept; `view` where it is not the name.
 * Out: as JSON on standard output, for each page by its name: `faults` (exceptions, errors on the console, requests to
 *      other hosts, a view that did not come to rest), the path of a `picture` of the view, and what was `read`: a text
 *      and the canvas as a data URL for each place.
 *
 * Run it in the folder `web`, where puppeteer-core is installed.
 */

import { createRequire } from "node:module";
import path from "node:path";
import { json } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const require = createRequire(path.join(process.cwd(), "package.json"));
const { default: puppeteer } = await import(pathToFileURL(require.resolve("puppeteer-core")).href);

const { firefox, init, folder, patience, pages } = await json(process.stdin);

let faults = []; // of the view that is looked at

/** One page for all views of a server: to open another takes a second of a processor. */
const open = async (browser, address) => {
  const home = new URL(address).origin;
  const page = await browser.newPage();
  page.setDefaultTimeout(patience);
  page.on("pageerror", (error) => faults.push(`exception: ${error.message}`));
  page.on("console", (message) => message.type() === "error" && faults.push(`console: ${message.text()}`));
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol.startsWith("http") && origin !== home) faults.push(`a request left for ${request.url()}`);
  });
  await page.setViewport({ width: 1440, height: 900 });
  await page.evaluateOnNewDocument(init);
  await page.goto(address);
  return page;
};

const rest = async (page) => {
  const latest = Date.now() + patience;
  while (!(await page.evaluate("window.isAtRest()"))) {
    if (Date.now() > latest) throw new Error("the page found no rest");
  }
};

/** A place of the window, from a place in an element. */
const place = async (page, selector, [x, y]) => {
  const box = await page.$eval(selector, (element) => {
    element.scrollIntoView({ block: "nearest" });
    const { left, top, width, height } = element.getBoundingClientRect();
    return { left, top, width, height };
  });
  return [box.left + x * box.width, box.top + y * box.height];
};

async function look(browser, opened, wish) {
  const { name, address, changes, choose, drag, press, shows, says, point, reads, looks, view: shown = name } = wish;
  faults = [];
  const read = [];
  const picture = path.join(folder, `${name}.png`);
  try {
    const { origin, hash } = new URL(address);
    opened[origin] ??= await open(browser, address);
    const page = opened[origin];
    await page.bringToFront(); // behind another one it draws no frames
    await page.evaluate((to) => { location.hash = to; }, hash);
    const view = await page.waitForSelector(`.view-host > .view-${shown}`);
    await page.waitForSelector(".stage[aria-busy=false]");
    await rest(page);
    if (changes) {
      const text = await page.$eval(changes, (element) => element.textContent);
      await page.waitForFunction((selector, before) => document.querySelector(selector).textContent !== before, {}, changes, text);
    }
    if (choose) await page.select(...choose);
    if (drag) {
      const [selector, first, ...others] = drag;
      await page.waitForSelector(selector);
      await page.mouse.move(...(await place(page, selector, first)));
      await page.mouse.down();
      for (const each of others) await page.mouse.move(...(await place(page, selector, each)));
      await page.mouse.up();
    }
    if (press) await (await page.waitForSelector(press)).click();
    if (shows) await page.waitForSelector(shows, { visible: true });
    if (says) await page.waitForFunction((selector, text) => document.querySelector(selector)?.textContent === text, {}, ...says);
    for (const each of point?.[1] ?? []) {
      await page.mouse.move(...(await place(page, point[0], each)));
      await rest(page);
      const text = await page.$eval(reads, (element) => element.textContent);
      read.push({ text, canvas: await page.$eval(looks, (canvas) => canvas.toDataURL()) });
    }
    await (shows ? page : view).screenshot({ path: picture });
  } catch (error) {
    faults.push(`${error}`);
  }
  return { faults, picture, read };
}

const browser = await puppeteer.launch({
  browser: "firefox",
  executablePath: firefox,
  headless: true,
  extraPrefsFirefox: { "media.navigator.streams.fake": true, "media.navigator.permission.disabled": true }, // a tone
  timeout: patience,
  protocolTimeout: 2 * patience, // what waits in the page ends first
});
const [found, opened] = [{}, {}];
try {
  for (const page of pages) found[page.name] = await look(browser, opened, page);
} finally {
  await browser.close();
}
console.log(JSON.stringify(found));
