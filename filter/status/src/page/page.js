"use strict";
const $ = (id) => document.getElementById(id);
const NS = "http://www.w3.org/2000/svg";
const PATIENCE_MS = 4000;
const FEW_ROWS = 12;
let filter = "", doc = null, before = null, rate = null, timer = 0, wait = 1000, failures = 0, all = false, picked = "", asked = null;

// Text goes in as text and never as markup: a key or a name may look like anything.
function put(node, text) {
  const value = String(text);
  if (node.textContent !== value) node.textContent = value;
  return node;
}
function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  return fill(node, attributes, children);
}
function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(NS, tag), attributes, children);
}
function fill(node, attributes, children) {
  for (const name in attributes) if (attributes[name] != null) node.setAttribute(name, attributes[name]);
  node.append(...children);
  return node;
}
const number = (value) => Number(value).toLocaleString("en-US");
const times = (value) => value == null ? "–" : value.toFixed(2) + "×";
const percent = (value) => (value * 100).toFixed(value < 0.0995 ? 1 : 0) + "%";
const plural = (count, word) => number(count) + " " + word + (count === 1 ? "" : "s");

// Blue under the mean, orange over it: told apart by any eye, and by lightness from either theme's grey.
function tint(load) {
  if (load == null) return "var(--mid)";
  const off = Math.max(-1, Math.min(1, load < 1 ? load - 1 : (load - 1) / 1));
  const part = Math.round(Math.min(1, Math.abs(off) * 1.6) * 100);
  return `color-mix(in oklab, var(${off < 0 ? "--cold" : "--warm"}) ${part}%, var(--mid))`;
}
function paint(node, name, color) {
  if (node.style.getPropertyValue(name) !== color) node.style.setProperty(name, color);
  return node;
}

// Rows are kept by their key, so that focus and selection outlive a refresh.
function rows(body, items, keyOf, make, update) {
  const known = new Map([...body.children].map((row) => [row.dataset.key, row]));
  items.forEach((item, i) => {
    const key = String(keyOf(item));
    let row = known.get(key);
    if (row) known.delete(key); else { row = make(item); row.dataset.key = key; }
    if (body.children[i] !== row) body.insertBefore(row, body.children[i] || null);
    update(row, item);
  });
  known.forEach((row) => row.remove());
}
const cells = (...classes) => el("tr", {}, ...classes.map((name) => el("td", name ? { class: name } : {})));

function point(angle, radius) {
  return [(Math.sin(angle) * radius).toFixed(2), (-Math.cos(angle) * radius).toFixed(2)];
}
function arc(from, to, inner, outer) {
  if (to - from > Math.PI * 2 - 1e-6) {
    return arc(from, from + Math.PI, inner, outer) + arc(from + Math.PI, from + Math.PI * 2, inner, outer);
  }
  const big = to - from > Math.PI ? 1 : 0;
  const [a, b, c, d] = [point(from, outer), point(to, outer), point(to, inner), point(from, inner)];
  return `M${a}A${outer} ${outer} 0 ${big} 1 ${b}L${c}A${inner} ${inner} 0 ${big} 0 ${d}Z`;
}
const turn = (bin, bins) => bin / bins * Math.PI * 2;
const label = (address) => {
  const ports = new Set(doc.filter.servers.map((server) => server.address.replace(/.*:/, "")));
  const hosts = new Set(doc.filter.servers.map((server) => server.address.replace(/:\d+$/, "")));
  if (hosts.size === 1 && ports.size > 1) return ":" + address.replace(/.*:/, "");
  return ports.size === 1 ? address.replace(/:\d+$/, "") : address;
};

// A key on all of 200 servers is drawn with a few of its lines; all of them while it is pointed at.
const MOST_LINES = 16;
const OUTER = 200, INNER = 166, HEAT = 158, CORE = 144;
let ringShape = "";
function drawRing(state) {
  const root = $("ring"), ring = state.ring, servers = state.servers;
  const many = servers.length > 24;
  const shape = JSON.stringify([state.id, ring.bins, ring.in_place, ring.arcs.map((a) => a.slice(1)), ring.heat.length]);
  if (shape !== ringShape) {
    ringShape = shape;
    root.replaceChildren(
      svg("g", { id: "turner" }), svg("g", { id: "heat" }), svg("g", { id: "hot", class: "lines" }), svg("g", { id: "asked" }),
      svg("g", { id: "labels" }));
    const gap = servers.length > 1 ? Math.min(0.012, 1.2 / servers.length / 4) : 0;
    const shift = ring.in_place ? -turn(rotation(state), ring.bins) : 0;
    for (const [start, length, server] of ring.arcs) {
      const from = turn(start, ring.bins) + shift, to = from + turn(length, ring.bins);
      if (length === 0) continue;
      const path = svg("path", { d: arc(from + gap, Math.max(from + gap, to - gap), INNER, OUTER), "data-server": server }, svg("title", {}));
      $("turner").append(path);
    }
    ring.heat.forEach((_, i) => {
      const [from, to] = [turn(i, ring.heat.length), turn(i + 1, ring.heat.length)];
      $("heat").append(svg("path", { d: arc(from, to + 0.002, CORE, HEAT) }));
    });
  }
  for (const path of $("turner").children) {
    const server = servers[path.dataset.server];
    if (!server) continue;
    paint(path, "fill", tint(server.load));
    put(path.firstChild, `${server.address}: ${times(server.load)} the mean`);
  }
  [...$("heat").children].forEach((path, i) => paint(path, "fill", tint(ring.heat[i])));
  spin(state);
  const names = many ? [] : ring.arcs.filter((a) => a[1] > 0);
  $("labels").replaceChildren(...names.map(([start, length, server]) => {
    const [x, y] = point(turn(start + length / 2, ring.bins), OUTER + 12);
    const side = Math.abs(x) < 40 ? "middle" : x > 0 ? "start" : "end";
    return put(svg("text", { x, y, "text-anchor": side }), servers.length > 12 ? server + 1 : label(servers[server].address));
  }));
  drawHot(state);
  drawAsked(state);
  const worst = servers.reduce((a, b) => ((b.load ?? 0) > (a?.load ?? -1) ? b : a), null);
  root.setAttribute("aria-label", worst
    ? `Ring of ${number(ring.bins)} bins owned by ${plural(servers.length, "server")}; the busiest is ${worst.address} at ${times(worst.load)} the mean`
    : "Ring of bins: no server");
}
const rotation = (state) => state.plan?.rotation ?? 0;
let angle = 0;
function spin(state) {
  // The shorter way round, so that a step past the top does not turn everything back.
  const goal = state.ring.in_place ? rotation(state) / state.ring.bins * 360 : 0;
  angle += ((goal - angle) % 360 + 540) % 360 - 180;
  paint($("turner"), "transform", `rotate(${angle.toFixed(3)}deg)`);
}
function middle(state, server) {
  const found = state.ring.arcs.find((a) => a[2] === server);
  return found ? turn(found[0] + found[1] / 2, state.ring.bins) : 0;
}
function curve(from, to) {
  return `M${point(from, CORE - 2)}Q0 0 ${point(to, INNER - 1)}`;
}
function drawHot(state) {
  const group = $("hot"), bins = state.ring.bins;
  const parts = [], dots = [];
  state.hot_keys.forEach((key, i) => {
    const from = turn(key.bin, bins), chosen = key.hash === picked;
    if (key.owners.length > 1 || key.owners[0] !== key.home) {
      const faint = Math.max(0.1, Math.min(0.75, key.load * 2)) / (key.owners.length > MOST_LINES ? 3 : 1);
      if (i < 10 || chosen) {
        const step = chosen ? 1 : Math.ceil(key.owners.length / MOST_LINES);
        for (const owner of key.owners.filter((_, place) => place % step === 0)) {
          parts.push(svg("path", { d: curve(from, middle(state, owner)), class: chosen ? "pick" : null, opacity: chosen ? null : faint.toFixed(2), "stroke-width": Math.max(0.7, Math.min(key.owners.length > MOST_LINES ? 1 : 3, key.load * 8)).toFixed(1) }));
        }
      }
    }
    const [cx, cy] = point(from, CORE - 3);
    dots.push(svg("circle", { cx, cy, r: Math.max(2.5, Math.min(7, Math.sqrt(key.load) * 9)).toFixed(1) }, put(svg("title", {}), `${key.key ?? key.hash}: ${percent(key.share)}`)));
  });
  group.classList.toggle("picked", state.hot_keys.some((key) => key.hash === picked));
  group.replaceChildren(...parts, ...dots);
}
function drawAsked(state) {
  const group = $("asked");
  if (!asked || asked.bin == null || asked.bins !== state.ring.bins) return group.replaceChildren();
  const from = turn(asked.bin, asked.bins), [cx, cy] = point(from, CORE - 3);
  const first = asked.owners.filter((owner) => owner.role !== "retry");
  const places = first.map((owner) => state.servers.findIndex((server) => server.address === owner.address));
  group.replaceChildren(
    ...places.filter((place) => place >= 0).map((place) => svg("path", { d: curve(from, middle(state, place)) })),
    svg("circle", { cx, cy, r: 6 }));
}

function line(points, x, y) {
  let path = "", down = true;
  for (const item of points) {
    const value = y(item);
    if (value == null) { down = true; continue; }
    path += (down ? "M" : "L") + x(item).toFixed(1) + " " + value.toFixed(1);
    down = false;
  }
  return path;
}
function drawPeaks(state, now) {
  const samples = state.history.samples, top = Math.max(1.25, ...samples.map((s) => Math.max(s[1], s[2])));
  const x = (s) => 600 - (now - s[0]) / 500, y = (value) => 144 - (value - 1 + 0.04) / (top - 1 + 0.04) * 138;
  const scaled = (at) => (s) => s[at] > 0 ? y(Math.max(1, s[at])) : null;
  $("peaks").replaceChildren(
    svg("line", { x1: 0, x2: 600, y1: y(1), y2: y(1), class: "p3" }),
    svg("path", { d: line(samples, x, scaled(2)), class: "p2" }),
    svg("path", { d: line(samples, x, scaled(1)), class: "p1" }));
  const range = samples.filter((s) => s[1] > 0).map((s) => s[1]);
  if (range.length) $("peaks").setAttribute("aria-label", `Peak over mean of the last five minutes: from ${Math.min(...range).toFixed(2)} to ${Math.max(...range).toFixed(2)}`);
  const turns = state.plan?.rotation != null && state.strategy === "rotation";
  $("turns").hidden = !turns;
  if (!turns) return;
  put($("turn"), state.plan.rotation);
  put($("turnof"), `of ${number(state.ring.bins)} bins`);
  const steps = [];
  samples.forEach((s, i) => { if (i) steps.push([s[0], samples[i - 1][3]]); steps.push([s[0], s[3]]); });
  $("turnchart").replaceChildren(svg("path", { d: line(steps, x, (s) => 56 - s[1] / Math.max(1, state.ring.bins) * 52), class: "p1" }));
}

function drawServers(state) {
  const order = state.servers.map((server, place) => ({ ...server, place }));
  order.sort(state.servers.length > 30 ? (a, b) => (b.load ?? 0) - (a.load ?? 0) || a.place - b.place : (a, b) => a.place - b.place);
  const gone = state.left_out.map((server) => ({ address: server.address || "without an address", out: server.reason }));
  const list = [...gone, ...order], shown = all || list.length <= 30 ? list : list.slice(0, FEW_ROWS);
  const top = Math.max(2, ...state.servers.map((server) => server.load ?? 0));
  const make = () => {
    const row = cells("name", "", "n", "n", "wide", "n", "n", "");
    const bar = svg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { height: 10 }), svg("rect", { width: 1, height: 10, y: 0 }));
    paint(bar.lastChild, "fill", "var(--ink)");
    row.children[1].append(el("div", { class: "bar" }, bar));
    row.children[4].append(svg("svg", { class: "spark", viewBox: "0 0 150 22", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("line", { x1: 0, x2: 150, class: "p3" }), svg("path", { class: "p1", fill: "none" })));
    row.children[7].append(el("span", { class: "pill" }));
    return row;
  };
  rows($("servertable").tBodies[0], shown, (server) => server.address + (server.out || ""), make, (row, server) => {
    const [name, bar, now, long, spark, flight, weight, health] = row.children;
    put(name, server.address);
    const [rect, mark] = bar.firstChild.firstChild.children;
    rect.setAttribute("width", Math.min(100, (server.load ?? 0) / top * 100).toFixed(1));
    paint(rect, "fill", tint(server.load));
    mark.setAttribute("x", (100 / top).toFixed(1));
    put(now, times(server.load));
    put(long, times(server.load_5m));
    const loads = server.loads || [], y = (load) => load == null ? null : 21 - Math.min(2, load) / 2 * 20;
    const base = spark.firstChild.firstChild;
    base.setAttribute("y1", y(1)); base.setAttribute("y2", y(1));
    base.nextSibling.setAttribute("d", line(loads.map((load, i) => [i, load]), (p) => 150 - (loads.length - 1 - p[0]) * 5.1, (p) => y(p[1])));
    put(flight, server.out ? "–" : number(server.in_flight));
    put(weight, server.out ? "–" : server.weight + (server.learned < 1 ? " × " + server.learned.toFixed(2) : ""));
    put(health.firstChild, server.out || (server.learned < 0.95 ? "slow" : "usable"));
    health.firstChild.className = "pill " + (server.out ? "no" : "yes");
  });
  put($("servercount"), state.servers.length ? `${number(state.servers.length)} usable` + (gone.length ? `, ${gone.length} left out` : "") + (list.length > 30 ? ", busiest first" : "") : "none usable");
  $("all").hidden = list.length <= 30;
  put($("all"), all ? `Show the ${FEW_ROWS} busiest` : `Show all ${number(list.length)}`);
  const choices = ["", ...state.servers.map((server) => server.address)], select = $("without");
  if (choices.length !== select.options.length || choices.some((choice, i) => select.options[i].value !== choice)) {
    const kept = select.value;
    select.replaceChildren(...choices.map((choice) => put(el("option", { value: choice }), choice || "none")));
    select.value = choices.includes(kept) ? kept : "";
  }
}

const TRACKS = { spread: true, pin: true };
function drawKeys(state) {
  const keys = state.hot_keys, most = keys.length ? keys[0].share : 1;
  const make = (key) => {
    const row = cells("", "n", "");
    const name = el("button", { type: "button", class: "link" });
    const pick = (hash) => () => { picked = hash; if (doc?.filter) drawHot(doc.filter); };
    for (const event of ["mouseenter", "focus"]) name.addEventListener(event, pick(key.hash));
    for (const event of ["mouseleave", "blur"]) name.addEventListener(event, pick(""));
    name.addEventListener("click", () => { const text = name.dataset.text; if (text) { $("key").value = text; ask(); } });
    row.children[0].append(name);
    row.children[1].append(el("span", {}), svg("svg", { class: "mini", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("rect", { height: 6, rx: 0 })));
    return row;
  };
  rows($("keys").tBodies[0], keys, (key) => key.hash, make, (row, key) => {
    const [name, share, owners] = row.children;
    put(name.firstChild, key.key ?? key.hash);
    name.firstChild.title = key.hash;
    if (key.key != null) name.firstChild.dataset.text = key.key;
    put(share.firstChild, percent(key.share));
    const bar = share.lastChild.firstChild;
    bar.setAttribute("width", (key.share / most * 100).toFixed(1));
    paint(bar, "fill", "var(--warm)");
    const names = key.owners.map((owner) => label(state.servers[owner]?.address ?? "?"));
    put(owners, names.length > 3 ? (names.length === state.servers.length ? "all " : "") + `${names.length} servers` : (names.length === 1 && key.owners[0] !== key.home ? "placed at " : "") + names.join(", "));
  });
  put($("keycount"), keys.length ? `${keys.length} shown` + (state.clear_keys ? "" : ", by their hashes") : "");
  $("keys").hidden = !keys.length;
  $("nokeys").hidden = keys.length > 0;
  put($("nokeys"), TRACKS[state.strategy] ? "No key stands out now." : `${state.strategy} looks at bins and not at keys, so none is named.`);
}

function drawWorkers(state) {
  rows($("workers").tBodies[0], state.workers, (worker) => worker.slot, () => cells("n", "n", "n", "n", ""), (row, worker) => {
    const texts = [worker.slot, worker.plan == null ? "–" : number(worker.plan), worker.epoch == null ? "–" : number(worker.epoch), worker.share == null ? "–" : percent(worker.share), worker.agrees ? "yes" : "behind"];
    texts.forEach((text, i) => put(row.children[i], text));
    row.className = worker.agrees ? "" : "matters";
  });
  put($("workercount"), `${state.workers.length}, one is Envoy's main thread`);
}
function drawCauses(state) {
  const shown = state.causes.filter((cause) => cause.total > 0);
  rows($("causes").tBodies[0], shown, (cause) => cause.name, () => cells("", "n", "n"), (row, cause) => {
    put(row.children[0], cause.text[0].toUpperCase() + cause.text.slice(1));
    put(row.children[1], number(cause.recent));
    put(row.children[2], number(cause.total));
    row.className = cause.matters ? "matters" : cause.recent ? "" : "none";
    row.title = cause.name;
  });
  $("causes").hidden = !shown.length;
  put($("quiet"), !state.causes.length ? "Envoy does not give its counters." : shown.length ? "" : "None: every request went to a server of its key.");
}

const HOW = {
  spread: [["A key finds its bin", "Its hash points at one of 65,536 bins on the ring. Every gateway hashes alike."], ["A bin has a home", "Servers race for each bin; the winner is its home. A server that leaves gives away its own bins and no others."], ["Hot keys get more servers", "A key with too much of the load (a dot) is served by several servers (its lines); the one with the fewest requests in flight gets the next."], ["Slow servers get fewer bins", "Who keeps more in flight than its share loses weight, step by step, and gets it back."]],
  pin: [["A key finds its bin", "Its hash points at one of 65,536 bins on the ring."], ["A bin has a home", "Servers race for each bin; the winner is its home. Each key has one server at a time."], ["The hottest keys are placed one by one", "Each stays where it is while its server is near the mean; else it goes to the least loaded."], ["Who cools goes home", "Only hot keys ever move."]],
  rotation: [["A key finds its bin", "Its hash modulo the number of bins is a place on the ring."], ["Each server owns an arc", "The outer ring: an arc as long as its weight. The inner ring shows how hot its bins are."], ["The arcs turn", "Each epoch the planner looks where the hottest arc would be least hot and turns all arcs there, unless that is far."], ["All at once", "Every worker follows a new plan from the same millisecond on."]],
  lpt: [["A key finds its bin", "Its hash modulo the number of bins is a place on the ring."], ["Bins are dealt", "Each epoch the heaviest bin goes first, each to the server that has least so far. An arc is as long as a server's number of bins."], ["All at once", "Every worker follows a new plan from the same millisecond on."]],
  static: [["A key finds its bin", "Its hash modulo the number of bins is a place on the ring."], ["Each server owns an arc", "It never moves: this is plain hashing, the baseline of the other strategies."]],
};
const RING = {
  true: "Outside, each server's arc over its own bins; inside, the bins. Both by load: orange is hot.",
  false: "Outside, each server as long as its part of the bins; inside, the bins by load. Dots are hot keys, lines lead to their servers.",
};

function verdict(state) {
  const { peak_over_mean: peak, plain_peak_over_mean: plain } = state.load;
  if (!state.plan) return "There is no plan yet. Until then Envoy's fallback policy routes.";
  if (!state.servers.length) return "No server is usable: Envoy's fallback policy routes.";
  if (state.servers.length === 1) return "There is one server: it serves everything.";
  if (peak == null) return "No requests of late.";
  const has = (value) => value >= 3
    ? `${value.toFixed(1)} times its share`
    : `${Math.max(0, Math.round((value - 1) * 100))}% more than its share`;
  const first = `The busiest server has ${has(peak)}.`;
  if (state.strategy === "static") return first + " This is plain hashing.";
  return plain == null ? first : `${first} With hashing alone it would have ${has(plain)}.`;
}

function draw() {
  const state = doc.filter, body = document.body;
  put($("title"), doc.title);
  document.title = doc.title + (state?.load.peak_over_mean != null ? ` · ${times(state.load.peak_over_mean)}` : "");
  $("choice").hidden = doc.filters.length < 2;
  const ids = doc.filters.map((one) => one.id), select = $("filter");
  if (ids.join() !== [...select.options].map((one) => one.value).join()) {
    select.replaceChildren(...doc.filters.map((one) => put(el("option", { value: one.id }), `${one.name} · ${one.cluster ?? "listed servers"} · ${one.strategy} · ${one.id.slice(0, 4)}`)));
  }
  body.classList.toggle("empty", !state);
  if (!state) {
    put($("line"), "Waiting for a filter");
    $("look").hidden = true;
    return;
  }
  select.value = state.id;
  const plan = state.plan;
  put($("line"), [state.strategy, plan ? `plan ${number(plan.version)}` + (plan.waiting ? ` (${number(plan.waiting)} waits)` : "") : "no plan yet", state.epoch == null ? "" : `epoch ${number(state.epoch)}`, plural(state.servers.length, "server"), rate == null ? "" : `${number(Math.round(rate))} requests/s`].filter(Boolean).join(" · "));
  $("look").hidden = !state.alarms.length;
  rows($("alarms"), state.alarms, (alarm) => alarm, () => el("li", {}), (item, alarm) => put(item, alarm));
  put($("peak"), times(state.load.peak_over_mean));
  put($("plain"), times(state.load.plain_peak_over_mean));
  put($("verdict"), verdict(state));
  put($("ringtext"), state.servers.length ? RING[state.ring.in_place] : "");
  drawPeaks(state, doc.now_ms);
  drawRing(state);
  drawServers(state);
  drawKeys(state);
  drawWorkers(state);
  drawCauses(state);
  const how = HOW[state.strategy] || [];
  if ($("how").dataset.of !== state.strategy) {
    $("how").dataset.of = state.strategy;
    $("how").replaceChildren(...how.map(([head, text]) => el("li", {}, put(el("b", {}), head), text)));
  }
}

function requests(state) {
  const counts = Object.entries(state?.metrics ?? {}).filter(([name]) => name.startsWith("requests.") && name !== "requests.fallback");
  return counts.length ? counts.reduce((sum, [, count]) => sum + count, 0) : null;
}
async function get(path) {
  const stop = new AbortController(), late = setTimeout(() => stop.abort(), PATIENCE_MS);
  try {
    const answer = await fetch(path, { signal: stop.signal, cache: "no-store" });
    return [answer.status, await answer.json()];
  } finally { clearTimeout(late); }
}
async function refresh() {
  clearTimeout(timer);
  try {
    const [status, news] = await get("status.json" + (filter ? "?filter=" + filter : ""));
    if (status === 404 && filter) { filter = ""; return; }
    if (status !== 200) throw new Error(news.error);
    if (news.format !== 1) throw new Error("The page is of another version than Envoy: load it anew.");
    const count = requests(news.filter);
    if (before && before.id === news.filter?.id && count >= before.count && news.now_ms > before.at) {
      rate = (count - before.count) / (news.now_ms - before.at) * 1000;
    } else { rate = null; }
    before = count == null ? null : { id: news.filter.id, count, at: news.now_ms };
    doc = news; wait = news.refresh_ms; failures = 0;
    live(true);
    draw();
  } catch (error) {
    failures += 1;
    live(false, error.name === "AbortError" || error instanceof TypeError ? "Envoy does not answer" : error.message);
  } finally {
    timer = setTimeout(refresh, failures ? Math.min(5000, 500 * failures) : wait);
  }
}
function live(on, why) {
  const body = document.body;
  body.classList.toggle("on", on);
  body.classList.toggle("off", !on);
  put($("livetext"), on ? "live" : "lost");
  $("gone").hidden = on;
  if (!on) put($("gone"), `${why}. ${doc ? `What you see is of ${new Date(doc.now_ms).toLocaleTimeString()}. ` : ""}Trying again.`);
}

function path(owners) {
  const note = { home: "home", copy: "copy", pinned: "placed here", retry: "on a retry" };
  return el("ol", { class: "path" }, ...owners.slice(0, 24).map((owner) => el("li", {}, put(el("b", {}), owner.address), " ", put(el("small", {}), note[owner.role] + (owner.in_flight == null ? "" : `, ${owner.in_flight} in flight`)))), ...(owners.length > 24 ? [el("li", {}, `and ${owners.length - 24} more`)] : []));
}
async function ask() {
  const key = $("key").value, without = $("without").value, box = $("answer");
  if (!key) return;
  const query = new URLSearchParams({ key });
  if (doc?.filter) query.set("filter", doc.filter.id);
  if (without) query.set("without", without);
  try {
    const [status, told] = await get("explain?" + query);
    if (status !== 200) throw new Error(told.error);
    asked = told;
    const facts = el("p", { class: "facts" }, "Hash ", put(el("code", {}), told.hash), told.bin == null ? "" : `, bin ${number(told.bin)} of ${number(told.bins)}`, told.plan == null ? "" : `, plan ${number(told.plan)}`);
    const parts = [put(el("p", {}), told.text), path(told.owners), facts];
    if (told.without) parts.push(put(el("p", {}), told.without.text), path(told.without.owners));
    box.replaceChildren(...parts);
  } catch (error) {
    asked = null;
    box.replaceChildren(put(el("p", { class: "bad" }), error instanceof TypeError || error.name === "AbortError" ? "Envoy does not answer." : error.message));
  }
  if (doc?.filter) drawAsked(doc.filter);
}

$("ask").addEventListener("submit", (event) => { event.preventDefault(); ask(); });
$("without").addEventListener("change", () => { if (asked) ask(); });
$("all").addEventListener("click", () => { all = !all; if (doc?.filter) drawServers(doc.filter); });
$("filter").addEventListener("change", (event) => { filter = event.target.value; asked = null; $("answer").replaceChildren(); refresh(); });
document.addEventListener("visibilitychange", () => { if (document.hidden) clearTimeout(timer); else refresh(); });
refresh();
