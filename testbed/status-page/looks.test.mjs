// How the page stands at any size, for anybody; and its documents against their schema.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import Ajv from "ajv/dist/2020.js";
import { DESKTOP, PHONE, launch, open, textOf } from "./browser.mjs";
import { startDemo } from "./demo.mjs";

const require = createRequire(import.meta.url);
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const here = (path) => new URL(path, import.meta.url);
const kept = (name) => readFileSync(here(`../../target/status-page/${name}`), "utf8");
const schemas = JSON.parse(readFileSync(here("../../docs/status.schema.json"), "utf8"));
const ajv = new Ajv({ strict: true, allErrors: true, allowUnionTypes: true });
ajv.addSchema(schemas);
const valid = (what, body) => {
  const check = ajv.getSchema(`${schemas.$id}#/$defs/${what}`);
  assert.ok(check(JSON.parse(body)), JSON.stringify(check.errors?.slice(0, 3)));
};

let browser, demo;
before(async () => {
  browser = await launch();
  demo = await startDemo("--clients", "8");
});
after(async () => {
  await Promise.all([demo?.stop(), browser?.close()]);
});

const DOCUMENTS = ["0.json", "1.json", "200.json", "200-rotation.json", "before-the-first-plan.json", "nothing.json"];

test("every document fits its schema", async () => {
  for (const name of DOCUMENTS) valid("status", kept(name));
  for (const path of ["/status.json", "/status.json"]) valid("status", await (await fetch(demo.status + path)).text());
  const server = (await (await fetch(demo.status + "/status.json")).json()).filter.servers[0].address;
  for (const path of ["/explain?key=a", `/explain?key=b&without=${server}`]) valid("explanation", await (await fetch(demo.status + path)).text());
  for (const path of ["/explain", "/x", "/status.json?a=b"]) valid("refusal", await (await fetch(demo.status + path)).text());
});

async function violations(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.target + " " + node.failureSummary).slice(0, 2).join(" | ")}`);
}

for (const colorScheme of ["light", "dark"]) {
  for (const [size, viewport] of [["desktop", DESKTOP], ["phone", PHONE]]) {
    test(`nothing keeps anybody out: ${colorScheme}, ${size}`, async () => {
      const page = await open(browser, demo.status, { viewport, colorScheme });
      await page.waitForSelector("#keys .link");
      await page.fill("#key", "cart-17");
      await page.click("#ask button");
      await page.waitForSelector("#answer ol");
      assert.deepEqual(await violations(page), []);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(wide <= 0, `${wide} pixels too wide`);
      await page.context().close();
    });
  }
}

const SAYS = {
  "0.json": "No server is usable",
  "1.json": "There is one server",
  "200.json": "The busiest server has",
  "200-rotation.json": "The busiest server has",
  "before-the-first-plan.json": "There is no plan yet",
  "nothing.json": "No filter has told anything yet",
};
for (const name of DOCUMENTS) {
  test(`${name} is shown well`, async () => {
    for (const viewport of [DESKTOP, PHONE]) {
      const page = await open(browser, demo.status, { viewport, document: kept(name), colorScheme: "dark" });
      await page.waitForTimeout(200);
      const text = await page.evaluate(() => document.body.innerText);
      assert.ok(text.includes(SAYS[name]), text);
      assert.ok(!/NaN|undefined|Infinity|null/.test(text), text);
      assert.deepEqual(page.complaints, []);
      assert.deepEqual(await violations(page), []);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(wide <= 0, `${wide} pixels too wide`);
      await page.context().close();
    }
  });
}

test("of 200 servers the busiest come first, and all on request", async () => {
  const page = await open(browser, demo.status, { document: kept("200.json") });
  const loads = () => page.$$eval("#servertable tbody tr", (rows) => rows.map((row) => parseFloat(row.children[2].textContent)));
  await page.waitForSelector("#servertable tbody tr");
  const few = await loads();
  assert.equal(few.length, 12);
  assert.deepEqual(few, [...few].sort((a, b) => b - a));
  await page.click("#all");
  assert.equal((await loads()).length, 200);
  assert.equal(await textOf(page, "#all"), "Show the 12 busiest");
  assert.equal(await page.locator("#turner path").count(), 200);
  await page.context().close();
});
