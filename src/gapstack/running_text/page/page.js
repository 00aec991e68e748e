"use strict";
document.documentElement.classList.add("with-script");
document.querySelector("header").prepend(themeButton());
const NOBODY = "-", OTHER = "+";
const footer = document.querySelector("footer");
/* By document and place: the pronoun's link as the model has it, and as the reader has corrected it. */
const corrections = new Map();
let downloaded = true;

function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}
const sectionOf = (node) => node.closest("section");
const entry = (section, person) => section.querySelector(`li button[data-person="${person}"]`);
const nameOf = (section, person) => entry(section, person)?.querySelector("b").textContent ?? "nobody here";
const wordsOf = (mark) => mark.firstChild.data;
const paint = (node, section, person) => {
  node.removeAttribute("style");
  node.style.cssText = entry(section, person)?.style.cssText ?? "--full:0%";
};

/* Highlight the mentions of one person of a document; once more removes the highlight. */
function choose(section, person) {
  const again = section.dataset.chosen === person;
  section.dataset.chosen = again ? "" : person;
  section.classList.toggle("chosen", !again);
  for (const button of section.querySelectorAll("li button")) {
    button.setAttribute("aria-pressed", button.dataset.person === section.dataset.chosen);
  }
  for (const mark of section.querySelectorAll("mark")) {
    mark.classList.toggle("on", !again && mark.dataset.person === person);
  }
  timeline(section, again ? "" : person);
}

/* Bars with the numbers of a person's mentions from the beginning of a document to its end; a click goes there. */
const BARS = 60;
function timeline(section, person) {
  const place = section.querySelector(".timeline");
  const paragraphs = [...section.querySelectorAll(".text p, .text h3")];
  place.hidden = person === "" || person === NOBODY || paragraphs.length < 2;
  if (place.hidden) return;
  const bars = Math.min(BARS, paragraphs.length), counts = new Array(bars).fill(0);
  const barOf = (k) => Math.floor(k * bars / paragraphs.length);
  paragraphs.forEach((paragraph, k) => {
    counts[barOf(k)] += paragraph.querySelectorAll(`mark[data-person="${person}"]`).length;
  });
  const most = Math.max(...counts, 1), name = nameOf(section, person);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `0 0 ${bars} 10`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  const total = counts.reduce((sum, count) => sum + count, 0);
  svg.setAttribute("aria-label", `${name}: ${total} mentions from the beginning to the end`);
  counts.forEach((count, k) => {
    const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    const height = count && Math.max(0.6, 10 * count / most);
    for (const [key, value] of Object.entries({x: k + 0.1, y: 10 - height, width: 0.8, height})) bar.setAttribute(key, value);
    svg.append(bar);
  });
  svg.addEventListener("click", (event) => {
    const {left, width} = svg.getBoundingClientRect();
    const bar = Math.min(bars - 1, Math.floor((event.clientX - left) / width * bars));
    paragraphs[paragraphs.findIndex((_, k) => barOf(k) === bar)].scrollIntoView();
  });
  place.style.cssText = entry(section, person)?.style.cssText ?? "";
  place.replaceChildren(element("span", {}, `${name}, from the beginning to the end`), svg);
}

/* Search: people with the words in their names stay in the legend; Enter goes from one paragraph with them to the next. */
function textOf(paragraph) {
  const nodes = [], walker = document.createTreeWalker(paragraph, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.parentElement.closest("sub, #card")) nodes.push(node);
  }
  return nodes;
}
function search(section, go) {
  const words = section.querySelector(".search").value.trim().toLowerCase().replace(/\s+/g, " ");
  const output = section.querySelector(".found");
  const people = [...section.querySelectorAll("li:not([hidden])")];
  const named = people.filter((item) => item.querySelector("b").textContent.toLowerCase().includes(words));
  for (const item of people) item.classList.toggle("unmatched", named.length > 0 && !named.includes(item));
  CSS.highlights?.delete("search");
  if (!words) {
    output.textContent = "";
    return;
  }
  const found = [...section.querySelectorAll(".text p, .text h3")].filter((paragraph) =>
    textOf(paragraph).map((node) => node.data).join("").toLowerCase().replace(/\s+/g, " ").includes(words));
  if (section.dataset.words !== words) {
    section.dataset.words = words;
    section.dataset.at = -1;
  }
  const paragraphs = found.length === 1 ? "1 paragraph" : `${found.length.toLocaleString("en")} paragraphs`;
  if (!go || !found.length) {
    output.textContent = found.length ? `${paragraphs}; Enter goes to the next` : "nothing found";
    return;
  }
  const at = (Number(section.dataset.at) + 1) % found.length;
  section.dataset.at = at;
  output.textContent = `${at + 1} of ${paragraphs}`;
  const range = document.createRange();
  range.selectNodeContents(found[at]);
  if (window.Highlight) CSS.highlights.set("search", new Highlight(range));
  found[at].scrollIntoView({block: "center"});
}
document.addEventListener("input", (event) => {
  if (event.target.matches(".search")) search(sectionOf(event.target), false);
});
document.addEventListener("change", (event) => {
  if (!event.target.matches(".chapters") || !event.target.value) return;
  sectionOf(event.target).querySelector(`[data-part="${event.target.value}"]`).scrollIntoView();
});

/* The card shows a pronoun's candidates; it is inert until it is opened, and then corrects the link. */
const card = element("div", {id: "card", hidden: true});
document.body.append(card);
card.setAttribute("role", "dialog");
card.popover = "manual";  // parts of the text would clip what is in them
card.setAttribute("aria-label", "Candidates");
let shown = null;

function show(mark) {
  if (shown === mark || !card.inert && !card.hidden) return;
  const section = sectionOf(mark);
  shown = mark;
  const choices = mark.dataset.links.split(" ").map((link) => link.split(":"));
  choices.sort((one, other) => parseInt(other[1]) - parseInt(one[1]));
  if (!choices.some(([person]) => person === mark.dataset.person)) choices.push([mark.dataset.person, ""]);
  const lines = choices.map(([person, share]) => {
    if (person === OTHER) return element("div", {}, "somebody else", element("span", {}, share));
    const button = element("button", {type: "button"}, nameOf(section, person), element("span", {}, share));
    button.dataset.person = person;
    paint(button, section, person);
    button.style.setProperty("--share", share || "0%");
    button.setAttribute("aria-pressed", person === mark.dataset.person);
    return button;
  });
  card.replaceChildren(element("p", {}, `\u201c${wordsOf(mark)}\u201d refers to`), ...lines);
  card.inert = true;
  card.hidden = false;
  mark.after(card);
  card.showPopover();
  mark.setAttribute("aria-describedby", "card");
  place();
}
/* The card goes below its pronoun, or above if there it would not fit. */
function place() {
  const {left, top, bottom} = shown.getClientRects()[0];
  const space = document.documentElement.clientWidth - card.offsetWidth - 8, height = card.offsetHeight + 4;
  const below = bottom + height <= innerHeight || top < height;
  card.style.left = `${Math.max(8, Math.min(left, space)) + scrollX}px`;
  card.style.top = `${(below ? bottom + 4 : top - height) + scrollY}px`;
}
function open(mark) {
  hide();
  show(mark);
  card.inert = false;
  const section = sectionOf(mark);
  const everybody = [...section.querySelectorAll("li button")].map((button) =>
    element("option", {value: button.dataset.person}, button.querySelector("b").textContent));
  const others = element("select", {ariaLabel: "Somebody else"}, element("option", {value: ""}, "Somebody else \u2026"), ...everybody);
  let byArrows = false;  // keys go through the names, and Enter takes one
  others.addEventListener("keydown", (event) => {
    byArrows = event.key !== " ";
    if (event.key === "Enter" && others.value) {
      event.preventDefault();
      correct(mark, others.value);
    }
  });
  others.addEventListener("pointerdown", () => { byArrows = false; });
  others.addEventListener("change", () => { if (!byArrows && others.value) correct(mark, others.value); });
  card.append(others);
  place();
  card.querySelector("button").focus();
}
function hide(back = false) {
  if (!shown) return;
  const mark = shown;
  shown = null;
  card.hidePopover();
  card.hidden = true;
  mark.removeAttribute("aria-describedby");
  if (back) mark.focus();
}

/* Link a pronoun to another person, or to nobody. */
function correct(mark, person) {
  const section = sectionOf(mark);
  const {document: id, chosen} = section.dataset;
  const key = JSON.stringify([id, mark.dataset.at]);
  const was = corrections.get(key)?.was ?? {person: mark.dataset.person, note: mark.querySelector("sub").textContent};
  const same = was.person === person;
  count(section, mark.dataset.person, -1);
  count(section, person, 1);
  mark.dataset.person = person;
  mark.querySelector("sub").textContent = same ? was.note : nameOf(section, person);
  mark.classList.toggle("corrected", !same);
  if (chosen) mark.classList.toggle("on", chosen === person);
  paint(mark, section, person);
  if (same) corrections.delete(key);
  else corrections.set(key, {was, mark});
  downloaded = corrections.size === 0;
  footer.hidden = corrections.size === 0;
  footer.querySelector("output").textContent = corrections.size === 1 ? "1 correction" : `${corrections.size} corrections`;
  hide(true);
}
function count(section, person, change) {
  const button = entry(section, person);
  if (!button) return;
  const pronouns = button.querySelector("data");
  pronouns.textContent = Number(pronouns.textContent) + change;
  if (!button.parentElement.hidden) return;
  button.parentElement.hidden = false;
  for (const mark of section.querySelectorAll(`mark.unlisted[data-person="${person}"]`)) mark.classList.remove("unlisted");
  const listed = section.querySelectorAll("li:not([hidden])").length;
  section.querySelector("summary").textContent = `People: ${listed.toLocaleString("en")}`;
}

/* Characters count as in Python: one each, outside of the basic plane too. */
function record({was, mark}) {
  const section = sectionOf(mark), start = Number(mark.dataset.at), words = wordsOf(mark);
  const person = (number) =>
    number === NOBODY ? null : {name: nameOf(section, number), start: Number(entry(section, number).dataset.at)};
  return {document: section.dataset.document, pronoun: {text: words, start, end: start + [...words].length},
    before: person(was.person), after: person(mark.dataset.person)};
}
function download() {
  const text = JSON.stringify({corrections: [...corrections.values()].map(record)}, null, 2);
  const link = element("a", {href: URL.createObjectURL(new Blob([text], {type: "application/json"})), download: "corrections.json"});
  link.click();
  downloaded = true;
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

footer.querySelector("button").addEventListener("click", download);
const pronounOf = (event) => event.target.closest?.("mark.pronoun");
document.addEventListener("mouseover", (event) => {
  const mark = pronounOf(event);
  if (mark) {
    if (card.inert && shown !== mark) hide();
    show(mark);
  } else if (card.inert) hide();
});
document.addEventListener("focusin", (event) => {
  const mark = pronounOf(event);
  if (!card.contains(event.target)) hide();
  if (mark) show(mark);
});
document.addEventListener("click", (event) => {
  const mark = pronounOf(event), other = event.target.closest("[data-person]");
  if (card.contains(event.target)) {
    if (other) correct(shown, other.dataset.person);
  } else if (mark) open(mark);
  else {
    hide();
    if (other) choose(sectionOf(other), other.dataset.person);
  }
});
document.addEventListener("keydown", (event) => {
  const mark = pronounOf(event);
  if (mark && (event.key === "Enter" || event.key === " ")) {
    event.preventDefault();
    open(mark);
  }
  if (event.key === "Enter" && event.target.matches(".search")) search(sectionOf(event.target), true);
  if (event.key === "Escape") hide(!card.inert);
});
window.addEventListener("beforeunload", (event) => { if (!downloaded) event.preventDefault(); });
