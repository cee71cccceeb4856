// A question about an image, the keys that answer it, and the label ranking that changes with the answer.
//
// A key answers the question that was painted when the key was pressed. A question counts as painted when a frame with
// it has been shown; an earlier key is a second answer to the previous question. Keys are neither delayed nor dropped
// while a question is shown.
//
// The next questions are known before the server responds: `tree` has the questions after each of the next answers.
// Beyond the tree, labels follow in `order`, their urgency at the last response; such a question says so. A question
// that is shown stays until it is answered: the server receives its label and continues from it.
//
// The log of answers is cumulative: all events that the server has not acknowledged are sent with each key, stored in
// the browser, and sent again by the next tab. If the browser's storage is full or off, answers are still sent to the
// server. An event that the server refuses, or that cannot be read, is set aside in the storage and reported, so that
// it does not block other events. Texts are set as text, never as markup.
//
// data: { token, stamp: { set, image, run, strategy }, names, k, most, saved: { session: number },
//         refused: [[session, number, why]], given: [[label, kind]], counted, tree, order, before, why, truth: [label] | null, own: { title, colour, note }, baseline: ranking | null }
// a question of the tree: { label, inside, outside, ranking: [[label, score, answer]] | null, precision, after: [3] }

const KINDS = { 1: "yes", 0: "no", s: "skip", u: "undo" };
const BRANCH = { yes: 0, no: 1, skip: 2 };
const STORED = "ranking-answers-";
const ASIDE = "ranking-refused-";
const MOST_SENT = 1000; // events per message, the oldest first; the server accepts no more
const AGAIN = 2000; // milliseconds after which events that are not acknowledged are sent again
const GLIDE = 350; // milliseconds
const BEYOND = 2; // ranks below the top k that are shown, unless all are shown
const NONE = { label: -1, inside: null, outside: null, counted: 0, ahead: 0 };

const element = (kind, className, text) => {
  const made = document.createElement(kind);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
};
const number = (value) => (value === null ? "–" : value.toFixed(3));
const distance = (value) => (value > 0 && value < 0.001 ? "less than 0.001" : number(value));

// ------------------------------------------------------------------------------------------------ The log

/** 32 hexadecimal digits; crypto.randomUUID exists only on pages with encryption. */
function newSession() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((x) => x.toString(16).padStart(2, "0")).join("");
}

/** The browser's storage, null if it is switched off. */
function storage() {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}

/** Store `events` under `name`; return false if the browser's storage is full or off. */
function keep(name, events) {
  try {
    const kept = storage();
    kept?.setItem(name, JSON.stringify(events));
    return kept !== null;
  } catch {
    return false;
  }
}

/** The stored events of a session, null if they cannot be read. */
function read(session) {
  const isEvent = (one) => one?.session === session && Number.isSafeInteger(one.number);
  try {
    const events = JSON.parse(storage()?.getItem(STORED + session) ?? "[]");
    return events.every(isEvent) ? events : null;
  } catch {
    return null;
  }
}

/** The events of tabs that were closed before the server had acknowledged all of them. */
function leftBehind(state) {
  const kept = storage();
  if (!kept) return [];
  const sessions = Object.keys(kept).filter((name) => name.startsWith(STORED)).map((name) => name.slice(STORED.length));
  return sessions.flatMap((session) => {
    const events = read(session);
    if (events) return events;
    const text = kept.getItem(STORED + session);
    kept.removeItem(STORED + session); // first, because a full storage has no space for both
    keep(ASIDE + session, text);
    state.word = "Answers of an earlier tab cannot be read; they are set aside in this browser.";
    return [];
  });
}

function remember(state) {
  state.unkept = !keep(STORED + state.session, state.log.filter((event) => event.session === state.session));
}

/** Drop the events that the server has stored, and set aside those that it refuses. Other tabs may have stored more. */
function acknowledge(state, { saved, refused }) {
  const reasons = new Map(refused.map(([session, number, why]) => [`${session}-${number}`, why]));
  const waits = (event) =>
    !reasons.has(`${event.session}-${event.number}`) && !(event.number <= saved[event.session]);
  for (const event of state.log) {
    const why = reasons.get(`${event.session}-${event.number}`);
    if (why === undefined) continue;
    keep(`${ASIDE}${event.session}-${event.number}`, [event]);
    state.word = `An answer was refused and is set aside in this browser: ${why}`;
  }
  for (const session of new Set([...Object.keys(saved), ...refused.map(([session]) => session)])) {
    const waiting = (read(session) ?? []).filter(waits);
    if (waiting.length) keep(STORED + session, waiting);
    else storage()?.removeItem(STORED + session);
  }
  state.log = state.log.filter(waits);
}

function send(state) {
  clearTimeout(state.timer);
  state.sendings += 1;
  const shown = state.current.label < 0 ? null : state.data.names[state.current.label];
  state.report({ events: state.log.slice(0, MOST_SENT), shown, token: state.token, sendings: state.sendings });
  if (state.log.length) state.timer = setTimeout(() => state.log.length && send(state), AGAIN);
}

// ------------------------------------------------------------------------------------ What follows from it

/** The answers that the server knows and the pending ones, and the node of the tree after them. */
function position(state) {
  const { data } = state;
  const pending = state.log.filter(
    (event) => event.set === data.stamp.set && event.image === data.stamp.image,
  );
  const given = data.given.map((one) => [...one]);
  let node = data.tree;
  for (const event of pending) {
    const label = data.names.indexOf(event.label);
    const follows = node && event.kind !== "undo" && node.label === label && node.after.length;
    node = follows ? node.after[BRANCH[event.kind]] : null;
    if (event.kind !== "undo") given.push([label, event.kind]);
    else {
      const last = given.findLastIndex((one) => one[0] === label);
      if (last >= 0) given.splice(last, 1);
    }
  }
  return { given, node, pending: pending.length };
}

/** The next question: from the tree, else the most urgent label that is not answered. */
function next({ data }, { given, node, pending }) {
  if (node) {
    const { label, inside, outside } = node;
    return { label, inside, outside, counted: data.counted + pending, ahead: 0, stamp: data.stamp };
  }
  const closed = new Set(given.map((one) => one[0]));
  const label = data.order.find((one) => !closed.has(one)) ?? -1;
  return { label, inside: null, outside: null, counted: data.counted, ahead: pending, stamp: data.stamp };
}

function hear(state, data) {
  if (state.token !== data.token) {
    state.token = data.token;
    state.current = NONE;
    state.ranking = null;
  }
  state.data = data;
  acknowledge(state, data);
  const now = position(state);
  const closed = now.given.some((one) => one[0] === state.current.label);
  if (!now.pending || state.current.label < 0 || closed) {
    const coming = next(state, now);
    const same = coming.label === state.current.label && !closed;
    const { inside, outside } = coming; // the values are updated, but not how the question was chosen
    state.current = same ? Object.assign(state.current, { inside, outside }) : coming;
  }
}

function press(state, kind) {
  const before = position(state);
  const asked = state.painted;
  let label = asked.label;
  let about = asked;
  if (kind === "undo") {
    label = before.given.at(-1)?.[0] ?? -1;
    about = { ...NONE, counted: state.data.counted + before.pending, stamp: state.data.stamp };
  }
  if (label < 0) {
    const early = kind !== "undo" && state.current.label >= 0;
    if (early) state.word = "The key was pressed before the question was shown: press it again.";
    return;
  }
  state.word = "";
  state.count += 1;
  const { inside, outside, counted, stamp } = about;
  const name = kind === "undo" ? state.data.names[label] : asked.name;
  const entry = { session: state.session, number: state.count, ...stamp, label: name, kind };
  state.log.push({ ...entry, inside, outside, counted, time: Date.now() / 1000 });
  remember(state);
  const after = position(state);
  if (kind === "undo") {
    state.current = { ...next(state, after), label, inside: null, outside: null, ahead: after.pending };
  } else if (asked === state.current) {
    state.current = next(state, after);
  }
  send(state);
}

// ------------------------------------------------------------------------------------------------ Painting

function paint(root, state) {
  const { data } = state;
  const now = position(state);
  paintQuestion(root, state, now);
  const known = now.node?.ranking && (now.node.label === state.current.label || !now.pending);
  const key = `${data.counted} ${now.pending}`;
  if (known && (state.ranking?.key !== key || !now.pending)) {
    const before = now.pending ? state.ranking?.order : data.before;
    const order = now.node.ranking.map((one) => one[0]);
    state.ranking = { key, order, before: before ?? order, rows: now.node.ranking, precision: now.node.precision };
  }
  const own = root.querySelector(".own");
  own.dataset.stale = String(!known);
  const { rows, before, precision } = state.ranking ?? { rows: [], before: [] };
  paintRanking(own, { ...data.own, rows, before, precision, k: data.k }, state);
  const baseline = root.querySelector(".baseline");
  baseline.hidden = !data.baseline;
  root.dataset.baseline = String(Boolean(data.baseline));
  if (data.baseline) paintRanking(baseline, baselineRanking(data, now), state);
  const all = root.querySelector(".all");
  all.hidden = !state.all && !root.querySelector(".row[hidden]");
  all.textContent = state.all ? "Fewer labels" : `All ${data.names.length} labels`;
  const { current } = state;
  if (state.painted !== current) {
    current.name = data.names[current.label];
    requestAnimationFrame(() => setTimeout(() => state.current === current && (state.painted = current)));
  }
}

/** The baseline's ranking. It is known after one pending answer; after two the baseline waits for the server. */
function baselineRanking({ baseline, tree }, { node, pending }) {
  const branch = pending === 1 && node ? tree.after.indexOf(node) : -1;
  return baseline.after[branch] ?? baseline;
}

function paintQuestion(root, state, now) {
  const { data, current } = state;
  const some = current.label >= 0;
  const ask = root.querySelector(".ask");
  if (some) {
    ask.replaceChildren("Does it show ", element("b", "", data.names[current.label]), "?");
  } else {
    ask.replaceChildren(now.pending ? "…" : "Every label is answered or skipped.");
  }
  const taken = [...new Map(now.given).values()].filter((kind) => kind === "yes").length;
  const full = some && taken >= data.k;
  root.querySelector(".why span").textContent =
    !some ? "" : full ? fullOf(taken) : current.ahead ? ahead(current.ahead) : data.why;
  const more = root.querySelector(".more");
  more.hidden = !full || taken >= data.most;
  more.textContent = `Raise k to ${taken + 1}`;
  const values = root.querySelector(".values");
  values.hidden = !some || current.inside === null || current.outside === null;
  if (!values.hidden) {
    const exact = Math.abs(current.inside - current.outside);
    const apart = Math.abs(number(current.inside) - number(current.outside)) || exact; // as one subtracts what is shown
    values.replaceChildren(
      `best ${data.k} with it `, element("b", "", number(current.inside)),
      ", without it ", element("b", "", number(current.outside)),
      `: ${distance(apart)} apart`,
    );
  }
  for (const button of root.querySelectorAll("button[data-kind]")) {
    button.disabled = button.dataset.kind === "undo" ? !now.given.length : !some;
  }
  const answers = new Map(now.given).size;
  const waiting = state.log.length;
  const counted = answers === 1 ? "1 question so far" : `${answers} questions so far`;
  const kept = waiting ? `saving ${waiting} …` : data.counted ? "all saved" : "";
  const stay = waiting && state.unkept ? "keep this tab open: the browser's storage is full or off" : "";
  root.querySelector(".kept").textContent = [counted, kept, stay, state.word].filter(Boolean).join(" · ");
}

const fullOf = (taken) =>
  `The top k is full: you answered yes for ${taken === 1 ? "one label" : `${taken} labels`}, so the ranking no longer ` +
  "changes.";
const ahead = (count) =>
  `Chosen before your last ${count === 1 ? "answer was" : `${count} answers were`} processed.`;

/** ranking: { title, colour, rows: [[label, score, answer]], before: [label], precision, k, note, after: [3] }; answer: "yes", "no", "" */
function paintRanking(root, ranking, state) {
  const { data } = state;
  root.querySelector(".title").textContent = ranking.title;
  root.style.setProperty("--bar", ranking.colour);
  root.querySelector(".measure").textContent =
    [data.truth && `break-even precision ${ranking.precision?.toFixed(2) ?? "–"}`, ranking.note].filter(Boolean).join(" · ");
  const list = root.querySelector(".bars");
  const known = new Map([...list.children].map((row) => [row.dataset.label, row]));
  const places = new Map(
    [...known].filter(([, row]) => !row.hidden).map(([label, row]) => [label, [row.offsetLeft, row.offsetTop]]),
  );
  const old = new Map(ranking.before.map((label, place) => [label, place]));
  const truth = data.truth && new Set(data.truth);
  const rows = ranking.rows.map(([label, score, answer], place) => {
    const row = known.get(String(label)) ?? newRow(label, data.names[label]);
    row.dataset.top = String(place < ranking.k);
    row.dataset.last = String(place === ranking.k - 1);
    row.dataset.answer = answer;
    row.dataset.asked = String(root.classList.contains("own") && label === state.current.label);
    const matters = place < ranking.k + BEYOND || answer || row.dataset.asked === "true" || truth?.has(label);
    row.hidden = !(state.all || matters);
    const moved = (old.get(label) ?? place) - place;
    const [rank, mark, sign, , bar, move] = row.children;
    rank.textContent = place + 1;
    sign.textContent = { yes: "✓", no: "✗", skip: "?" }[answer] ?? "";
    bar.firstChild.style.setProperty("--share", Math.abs(score));
    bar.dataset.side = score >= 0 ? "inside" : "outside";
    move.textContent = moved ? `${moved > 0 ? "▲" : "▼"}${Math.abs(moved)}` : "";
    move.dataset.up = String(moved > 0);
    mark.textContent = truth?.has(label) ? "●" : "";
    row.setAttribute("aria-label", spoken(data.names[label], place, ranking.k, answer, moved, truth?.has(label)));
    return row;
  });
  list.style.setProperty("--rows", Math.ceil(rows.filter((row) => !row.hidden).length / 2));
  if (rows.some((row, place) => list.children[place] !== row) || list.children.length !== rows.length) {
    list.replaceChildren(...rows);
    glide(rows, places);
  }
}

function spoken(name, place, k, answer, moved, isTrue) {
  const parts = [`${place + 1}: ${name}`, place < k ? `in the top ${k}` : ""];
  if (answer) parts.push(answer === "skip" ? "skipped" : `answered ${answer}`);
  if (moved) parts.push(`${moved > 0 ? "up" : "down"} ${Math.abs(moved)}`);
  if (isTrue) parts.push("correct label");
  return parts.filter(Boolean).join(", ");
}

function newRow(label, name) {
  const row = element("li", "row");
  row.dataset.label = label;
  row.append(element("span", "rank"), element("span", "mark"), element("span", "sign"), element("span", "name", name));
  const bar = element("span", "bar");
  bar.append(element("i", ""));
  row.append(bar, element("span", "move"));
  for (const part of row.children) part.setAttribute("aria-hidden", "true");
  return row;
}

function glide(rows, before) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  for (const row of rows) {
    const old = before.get(row.dataset.label);
    if (!old) continue;
    const [across, down] = [old[0] - row.offsetLeft, old[1] - row.offsetTop];
    if (across || down) {
      const start = { transform: `translate(${across}px, ${down}px)` };
      row.animate([start, { transform: "none" }], { duration: GLIDE, easing: "ease-out" });
    }
  }
}

// ------------------------------------------------------------------------------------------------ Keys

const WORDLESS = ["checkbox", "radio", "range", "button", "file"].map((type) => `[type=${type}]`).join();
const TYPED = `input:not(${WORDLESS}), textarea, select, [contenteditable=true]`;

/** Whether `target` accepts text; a switch or a slider may have the focus, but does not accept text. */
const isTyping = (target) => target.matches?.(TYPED) ?? false;

function listen(root, state) {
  const onKey = (event) => {
    if (!root.isConnected) {
      document.removeEventListener("keydown", onKey, true);
      return;
    }
    const kind = KINDS[event.key.toLowerCase()];
    const modified = event.ctrlKey || event.metaKey || event.altKey;
    if (!kind || modified || event.repeat || isTyping(event.composedPath()[0])) return;
    event.preventDefault();
    event.stopPropagation();
    press(state, kind);
    paint(root, state);
  };
  document.addEventListener("keydown", onKey, true);
}

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector(".questions");
  const fresh = !root.state;
  const state = (root.state ??= {
    session: newSession(),
    count: 0,
    sendings: 0,
    log: [],
    word: "",
    unkept: false,
    all: false,
    current: NONE,
    painted: NONE,
  });
  state.report = (value) => setStateValue("log", value);
  if (fresh) state.log = leftBehind(state);
  hear(state, data);
  if (fresh) {
    listen(root, state);
    if (state.log.length) send(state);
  }
  root.onclick = (event) => {
    if (event.target.closest(".more")) setTriggerValue("more", true);
    if (event.target.closest(".all")) {
      state.all = !state.all;
      paint(root, state);
    }
    const button = event.target.closest("button[data-kind]");
    if (!button) return;
    press(state, button.dataset.kind);
    paint(root, state);
  };
  paint(root, state);
}
