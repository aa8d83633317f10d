// Debian's Chromium, or the one that CHROMIUM names.
import { chromium } from "playwright-core";

export const DESKTOP = { width: 1280, height: 900 };
export const PHONE = { width: 390, height: 844 };

export function launch() {
  const root = process.getuid?.() === 0;
  return chromium.launch({
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    args: root ? ["--no-sandbox"] : [],
  });
}

// Opens a page; what its console says against it is kept in `complaints`.
export async function open(browser, url, { viewport = DESKTOP, colorScheme = "light", document } = {}) {
  const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce" });
  const page = await context.newPage();
  page.complaints = [];
  page.on("console", (message) => {
    if (message.type() === "error") page.complaints.push(message.text());
  });
  page.on("pageerror", (error) => page.complaints.push(error.message));
  page.foreign = [];
  page.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== "data:" && origin !== new URL(url).origin) page.foreign.push(request.url());
  });
  if (document) {
    await page.route("**/status.json*", (route) => route.fulfill({ contentType: "application/json", body: document }));
  }
  await page.goto(url);
  await page.waitForSelector("body.on");
  return page;
}

export const textOf = async (page, selector) => (await page.textContent(selector)).trim();
