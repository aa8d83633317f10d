// The pictures of docs/status-page/: a cluster under load, in both themes, on a desktop and on a phone.
import { mkdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { DESKTOP, PHONE, launch, open } from "./browser.mjs";
import { startDemo } from "./demo.mjs";

const folder = new URL("../../docs/status-page/", import.meta.url);
mkdirSync(folder, { recursive: true });
const browser = await launch();

async function shoot(name, url, options) {
  const page = await open(browser, url, options);
  await page.waitForTimeout(2_500);
  if (!options.document) {
    await page.fill("#key", "cart-17");
    await page.click("#ask button");
    await page.waitForSelector("#answer ol");
  }
  await page.screenshot({ path: new URL(`${name}.png`, folder).pathname, fullPage: options.viewport === PHONE || options.whole });
  await page.context().close();
  console.log(`docs/status-page/${name}.png`);
}

for (const strategy of ["spread", "rotation"]) {
  const demo = await startDemo("--strategy", strategy);
  try {
    await sleep(Number(process.env.RUDOLPH_WARM_S || 60) * 1000);
    if (strategy === "spread") {
      for (const colorScheme of ["light", "dark"]) {
        await shoot(`desktop-${colorScheme}`, demo.status, { viewport: DESKTOP, colorScheme, whole: true });
        await shoot(`phone-${colorScheme}`, demo.status, { viewport: PHONE, colorScheme });
      }
      const document = readFileSync(new URL("../../target/status-page/200.json", import.meta.url), "utf8");
      await shoot("200-servers", demo.status, { viewport: DESKTOP, document });
    } else {
      await shoot("rotation", demo.status, { viewport: DESKTOP });
    }
  } finally {
    await demo.stop();
  }
}
await browser.close();
