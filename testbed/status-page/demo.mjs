// A real cluster under load: the demo, as `make run` starts it.
import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

const PATIENCE_MS = 90_000;

export async function startDemo(...options) {
  const program = process.env.RUDOLPH_DEMO;
  if (!program) throw new Error("RUDOLPH_DEMO names no program; use scripts/status-page.sh");
  // It ends by itself, whatever becomes of the test.
  const demo = spawn(program, ["--seconds", "240", ...options], { stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  for (const stream of [demo.stdout, demo.stderr]) stream.on("data", (more) => { text += more; });
  let ended = false;
  demo.once("exit", () => { ended = true; });
  const found = {};
  for (const deadline = Date.now() + PATIENCE_MS; ;) {
    found.envoy = text.match(/Envoy +(http:\/\/\S+?),/)?.[1];
    found.admin = text.match(/admin +(http:\/\/\S+)/)?.[1];
    found.status = text.match(/look +(http:\/\/\S+)/)?.[1];
    if (Object.values(found).every(Boolean) && / 1 of \d+ s/.test(text)) break;
    if (ended || Date.now() > deadline) throw new Error(`the demo did not start:\n${text}`);
    await sleep(100);
  }
  return {
    ...found,
    pid: demo.pid,
    async stop() {
      if (ended) return;
      const gone = new Promise((resolve) => demo.once("exit", resolve));
      demo.kill("SIGINT");
      await gone;
    },
  };
}

// The filter's own metrics, as Envoy's admin interface tells them.
export async function metrics(demo) {
  const answer = await fetch(`${demo.admin}/stats?format=json&filter=wasmcustom`);
  const stats = (await answer.json()).stats.filter((stat) => stat.name);
  return Object.fromEntries(stats.map((stat) => [stat.name.replace("wasmcustom.rudolph.", ""), stat.value]));
}

// The server that answered one request for a key.
export async function serverOf(demo, key, path = `/kv/${encodeURIComponent(key)}`) {
  const answer = await fetch(demo.envoy + path, { headers: { "x-key": key } });
  await answer.arrayBuffer();
  return answer.headers.get("x-server");
}

export async function eventually(goal, patienceMs, attempt) {
  const started = Date.now();
  for (;;) {
    const reached = await attempt();
    if (reached) return Date.now() - started;
    if (Date.now() - started > patienceMs) throw new Error(`${goal}: not in ${patienceMs} ms`);
    await sleep(50);
  }
}
