// The page over a real cluster under load.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { execFileSync } from "node:child_process";
import { launch, open, textOf } from "./browser.mjs";
import { eventually, metrics, serverOf, startDemo } from "./demo.mjs";

let browser, spread, rotation;
before(async () => {
  browser = await launch();
  // One after the other: the first takes the usual port of the page, which the second then finds taken.
  spread = await startDemo("--clients", "12", "--keys", "4000", "--reshuffle-seconds", "0");
  rotation = await startDemo("--clients", "12", "--strategy", "rotation", "--reshuffle-seconds", "2", "--alpha", "1.2");
});
after(async () => {
  await Promise.all([spread?.stop(), rotation?.stop(), browser?.close()]);
});

const json = async (demo, path = "/status.json") => (await fetch(demo.status + path)).json();
const times = (value) => (value == null ? "–" : value.toFixed(2) + "×");

test("the figures on the page are those of status.json", async () => {
  const page = await open(browser, spread.status);
  // The page's own copy, so that both speak of one moment.
  await eventually("a document with load", 20_000, () => page.evaluate(() => doc?.filter?.load.peak_over_mean != null && rate != null));
  const seen = await page.evaluate(() => {
    const cells = (table) => [...document.querySelectorAll(`#${table} tbody tr`)].map((row) => [...row.children].map((cell) => cell.textContent));
    const text = (id) => document.getElementById(id).textContent;
    return { state: doc.filter, peak: text("peak"), plain: text("plain"), line: text("line"), servers: cells("servertable"), keys: cells("keys"), workers: cells("workers") };
  });
  const { state } = seen;
  assert.equal(seen.peak, times(state.load.peak_over_mean));
  assert.equal(seen.plain, times(state.load.plain_peak_over_mean));
  assert.ok(seen.line.includes(`plan ${state.plan.version.toLocaleString("en-US")}`), seen.line);
  assert.equal(seen.servers.length, 5);
  state.servers.forEach((server, i) => {
    const [name, , now, long, , flight] = seen.servers[i];
    assert.deepEqual([name, now, long, flight], [server.address, times(server.load), times(server.load_5m), String(server.in_flight)]);
  });
  assert.deepEqual(seen.keys.map((row) => row[0]), state.hot_keys.map((key) => key.key ?? key.hash));
  assert.deepEqual(seen.workers.map((row) => row[1]), state.workers.map((worker) => worker.plan.toLocaleString("en-US")));
  assert.deepEqual(page.complaints, []);
  assert.deepEqual(page.foreign, []);
  await page.context().close();
});

test("the figures of status.json are Envoy's own", async () => {
  const first = await metrics(spread);
  const { filter } = await json(spread);
  const last = await metrics(spread);
  for (const [name, value] of Object.entries(filter.metrics)) {
    // Counters only rise, so what was told between two looks lies between them.
    const rises = !["rotation", "hot_keys", "servers_unusable", "moved_ppm", "peak_over_mean_permille"].includes(name);
    if (rises) assert.ok(first[name] <= value && value <= last[name], `${name}: ${first[name]} ${value} ${last[name]}`);
  }
  assert.equal(filter.metrics.servers, last.servers);
  assert.equal(filter.servers.length, last.servers);
  assert.equal(filter.workers.length, last.workers);
  assert.equal(Object.keys(filter.metrics).length, Object.keys(last).length);
});

test("a new hot key appears on the page within 3 s", async () => {
  const page = await open(browser, spread.status);
  // What looks like markup must stay text wherever it is shown.
  const key = "<img src=x onerror=document.title='owned'>&\"'";
  const flood = { on: true };
  const clients = Array.from({ length: 4 }, async () => {
    while (flood.on) await serverOf(spread, key, "/kv/hostile");
  });
  try {
    const shown = () => page.evaluate((wanted) => [...document.querySelectorAll("#keys .link")].some((cell) => cell.textContent === wanted), key);
    const took = await eventually("the hot key is on the page", 3_000, shown);
    assert.ok(took <= 3_000);
  } finally {
    flood.on = false;
    await Promise.all(clients);
  }
  assert.equal(await page.locator("main img").count(), 0);
  assert.ok(!(await page.title()).includes("owned"));
  assert.deepEqual(page.complaints, []);
  await page.context().close();
});

test("a rotation appears on the page within 3 s", async () => {
  const page = await open(browser, rotation.status);
  await page.waitForSelector("#turns:not([hidden])");
  const before = (await metrics(rotation)).rotation;
  let now = before;
  await eventually("the load makes the arcs turn", 30_000, async () => {
    now = (await metrics(rotation)).rotation;
    return now !== before;
  });
  const shown = async () => {
    const [turned, latest] = [Number(await textOf(page, "#turn")), (await metrics(rotation)).rotation];
    return turned === now || turned === latest;
  };
  await eventually("the new rotation is on the page", 3_000, shown);
  const angle = await page.evaluate(() => document.getElementById("turner").style.transform);
  const { bins, turn } = await page.evaluate(() => ({ bins: doc.filter.ring.bins, turn: doc.filter.plan.rotation }));
  const off = (Number(angle.match(/-?[\d.]+/)[0]) - turn / bins * 360) % 360;
  assert.ok(Math.min(Math.abs(off), 360 - Math.abs(off)) < 0.01, `${angle} at rotation ${turn} of ${bins}`);
  await page.context().close();
});

for (const [name, demo] of [["spread", () => spread], ["rotation", () => rotation]]) {
  test(`explanations under ${name} agree with where requests really go`, async () => {
    const cluster = demo();
    let agreed = 0, grew = 0;
    for (let i = 0; i < 60; i += 1) {
      // The hottest keys of the load, and keys that nobody asked for before.
      const hot = (await json(cluster)).filter.hot_keys.map((one) => one.key);
      const key = i % 3 === 0 && hot.length ? hot[i % hot.length] : `explained-${i}`;
      const explain = () => json(cluster, "/explain?" + new URLSearchParams({ key }));
      const first = await explain();
      const server = await serverOf(cluster, key);
      const last = await explain();
      const moving = (told) => JSON.stringify(told.owners.map((owner) => [owner.address, owner.role]));
      // Under load a plan may come in between.
      if (moving(first) !== moving(last)) continue;
      const serving = last.owners.filter((owner) => owner.role !== "retry").map((owner) => owner.address);
      if (serving.includes(server)) agreed += 1;
      // A worker's own sketch may give a hot key one more copy between two ticks, which nobody else knows yet.
      else if (last.reason === "hot") grew += 1;
      else assert.fail(`${key} went to ${server}: ${JSON.stringify(last)}`);
    }
    assert.ok(agreed >= 30, `only ${agreed} of 60 stood still`);
    assert.ok(grew <= 4, `${grew} hot keys went elsewhere`);
  });
}

test("the box explains a key, and where it would go", async () => {
  const page = await open(browser, spread.status);
  await page.fill("#key", "cart-17");
  await page.press("#key", "Enter");
  await page.waitForSelector("#answer ol");
  const told = await json(spread, "/explain?key=cart-17");
  assert.equal(await textOf(page, "#answer p"), told.text);
  assert.ok((await textOf(page, "#answer .facts")).includes(told.hash));
  const home = told.owners[0].address;
  await page.selectOption("#without", home);
  await page.waitForFunction((text) => document.querySelector("#answer").textContent.includes(text), `Without ${home} it would move from`);
  assert.ok(await page.locator("#asked circle").count());
  await page.context().close();
});

test("a hostile key in the box is shown as text", async () => {
  const page = await open(browser, spread.status);
  for (const key of ["<script>document.title='owned'</script>", "\"><svg onload=1>", "a&key=b", "%00%ff", "\u202Eabc", "x".repeat(9000)]) {
    await page.fill("#key", key);
    await page.click("#ask button");
    await page.waitForFunction(() => document.querySelector("#answer .facts"));
    await page.evaluate(() => document.querySelector("#answer").replaceChildren());
  }
  assert.equal(await page.locator("#answer script, #answer svg").count(), 0);
  assert.ok(!(await page.title()).includes("owned"));
  assert.deepEqual(page.complaints, []);
  await page.context().close();
});

test("by keyboard alone one gets everywhere", async () => {
  const page = await open(browser, spread.status);
  await page.waitForSelector("#keys .link");
  const met = new Set();
  for (let i = 0; i < 60; i += 1) {
    await page.keyboard.press("Tab");
    met.add(await page.evaluate(() => document.activeElement.id || document.activeElement.className || document.activeElement.tagName));
  }
  for (const stop of ["skip", "key", "without", "scroll", "link"]) assert.ok(met.has(stop), `${stop}: ${[...met]}`);
  await page.context().close();
});

test("when Envoy goes away the page says so, and recovers", async () => {
  const children = execFileSync("ps", ["-o", "pid=,comm=", "--ppid", String(spread.pid)], { encoding: "utf8" });
  const envoy = Number(children.split("\n").find((line) => /envoy/.test(line)).trim().split(/\s+/)[0]);
  const page = await open(browser, spread.status);
  process.kill(envoy, "SIGSTOP");
  try {
    await page.waitForSelector("body.off", { timeout: 10_000 });
    assert.ok((await textOf(page, "#gone")).startsWith("Envoy does not answer."));
    assert.equal(await textOf(page, "#livetext"), "lost");
  } finally {
    process.kill(envoy, "SIGCONT");
  }
  await page.waitForSelector("body.on", { timeout: 10_000 });
  assert.ok(await page.locator("#gone").isHidden());
  await page.context().close();
});
