"use strict";
const DELAY = 150;  // milliseconds without a keystroke before a text is asked about
const typed = document.getElementById("typed");
const place = document.getElementById("answers");
const problem = document.getElementById("problem");
const working = document.getElementById("working");
const LONGEST_LINK = 4000;  // characters of a text that the page's address holds

/* One text is asked about at a time; of those typed meanwhile the last is next. */
let timer = 0, busy = false, next = null;
function changed() {
  clearTimeout(timer);
  timer = setTimeout(() => ask(typed.value), DELAY);
}
async function ask(text) {
  if (busy) {
    next = text;
    return;
  }
  busy = true;
  working.textContent = "working";
  place.classList.add("waiting");
  const started = performance.now();
  try {
    const response = await fetch("/ask", {method: "POST", headers: {"Content-Type": "text/plain;charset=utf-8"}, body: text});
    const record = await response.json();
    remember("text", text.length > LONGEST_LINK ? "" : text);
    if (response.ok) show(record);
    else complain(record.problem);
    document.getElementById("seconds").textContent = ` in ${((performance.now() - started) / 1000).toFixed(2)} s`;
  } catch (failure) {
    complain(`The demo does not answer (${failure.message}). Is gap demo still running?`);
  }
  place.classList.remove("waiting");
  working.textContent = "";
  busy = false;
  if (next !== null) {
    const last = next;
    next = null;
    ask(last);
  }
}
function complain(text) {
  problem.textContent = text;
  problem.hidden = false;
  place.replaceChildren();
}

/* Spans come as places of characters; JavaScript counts those outside of the basic plane twice. */
function placesOf(text) {
  const places = [0];
  for (const letter of text) places.push(places.at(-1) + letter.length);
  return places;
}
const colourOf = (k) => `var(--c${k % 8})`;
const percent = (share) => `${(100 * share).toFixed(1)}%`;

function show(record) {
  problem.hidden = true;
  document.getElementById("record").textContent = JSON.stringify(record, null, 2);
  if (!record.answers.length) {
    place.replaceChildren(element("p", {className: "caption"}, record.text.trim() ? `No answer: ${record.remark}.` : ""));
    return;
  }
  const places = placesOf(record.text);
  /* Candidates that share a mention are one person; the one that is mentioned first has the first colour. */
  const people = new Map();
  const first = (one) => Math.min(...one.mentions.map((mention) => mention[0]));
  const everybody = record.answers.flatMap((answer) => answer.candidates);
  for (const one of [...everybody].sort((a, b) => first(a) - first(b))) {
    const mentions = one.mentions.map(String);
    const number = people.get(mentions.find((mention) => people.has(mention))) ?? new Set(people.values()).size;
    for (const mention of mentions) if (!people.has(mention)) people.set(mention, number);
  }
  const colour = (one) => colourOf(people.get(String(one.mentions[0])));
  const marks = new Map();
  for (const one of everybody) for (const [start, end] of one.mentions) marks.set(`${start},${end}`, {start, end, colour: colour(one), title: ""});
  record.answers.forEach(({pronoun, candidates, nobody, other, sure}, answer) => {
    const best = candidates[0] && candidates[0].probability > nobody ? candidates[0] : null;
    const [name, share] = best ? [best.full_name, best.probability] : other > nobody ? ["somebody else", other] : ["nobody here", nobody];
    marks.set(`${pronoun.start},${pronoun.end}`, {...pronoun, answer, sure, colour: best ? colour(best) : "", title: `${name} ${percent(share)}`});
  });
  const sorted = [...marks.values()].sort((a, b) => a.start - b.start || b.end - a.end);
  const resolved = highlighted(record.text, sorted.map(({start, end, colour: own, title}) => [places[start], places[end], own ? "" : "nobody", title]));
  resolved.classList.add("resolved");
  resolved.querySelectorAll("mark").forEach((mark, k) => {
    const {colour: own, answer, sure} = sorted[k];
    if (own) mark.style.setProperty("--person", own);
    if (answer === undefined) return;
    mark.classList.toggle("unsure", !sure);
    mark.dataset.answer = answer;
    mark.tabIndex = 0;
  });
  const cards = record.answers.map(({pronoun, candidates, nobody, other, notes, sure}, answer) => {
    const shares = element("dl", {className: "shares"});
    const all = [...candidates.map((one) => [one.full_name, one.probability, colour(one)]), ["nobody here", nobody, "var(--neither)"]];
    if (other) all.push(["somebody else", other, "var(--neither)"]);
    for (const [name, share, own] of all.sort((a, b) => b[1] - a[1])) {
      const bar = element("i", {});
      bar.style.width = percent(share);
      bar.style.setProperty("--person", own);
      shares.append(element("dt", {}, name), element("dd", {}, bar), element("dd", {}, percent(share)));
    }
    const reasons = candidates.filter((one) => one.reasons.length).map((one) =>
      element("li", {}, `${one.full_name}: ${one.reasons.join("; ")}`));
    const why = reasons.length ? [element("details", {}, element("summary", {}, "Why?"), element("ul", {}, ...reasons))] : [];
    const heading = element("h3", {}, `${pronoun.text} `, element("small", {}, `at ${pronoun.start}${sure ? "" : ", not sure"}`));
    const card = element("section", {className: "card", tabIndex: 0},
      heading, shares, ...notes.map((note) => element("p", {className: "caption"}, note)), ...why);
    card.dataset.answer = answer;
    return card;
  });
  place.replaceChildren(resolved, element("div", {className: "cards"}, ...cards));
}

/* A card and its pronoun are highlighted together. */
function activate(event) {
  const now = event.type === "focusout" ? event.relatedTarget : event.target;
  const answer = now?.closest("[data-answer]")?.dataset.answer;
  for (const one of place.querySelectorAll("[data-answer]")) one.classList.toggle("active", one.dataset.answer === answer);
}
for (const event of ["mouseover", "mouseleave", "focusin", "focusout"]) place.addEventListener(event, activate);

typed.addEventListener("input", changed);
document.querySelector(".examples").addEventListener("click", (event) => {
  const example = event.target.closest("button");
  if (!example) return;
  typed.value = example.textContent;
  ask(typed.value);
});
/* The address has the text, #text?text=..., so that a link to it opens with the text. */
window.addEventListener("settings", () => {
  const text = settings.get("text") ?? (typed.value || data.examples[0]);
  if (text === typed.value) return;
  typed.value = text;
  ask(text);
});
const link = document.getElementById("link");
link.addEventListener("click", async () => {
  const label = link.textContent;
  try {
    if (typed.value.length > LONGEST_LINK) throw new Error(`the text has more than ${LONGEST_LINK} characters`);
    remember("text", typed.value);
    await navigator.clipboard.writeText(location.href);
    link.textContent = "Copied";
  } catch (refusal) {
    link.textContent = `Not copied: ${refusal.message}`;
  }
  setTimeout(() => { link.textContent = label; }, 2000);
});
