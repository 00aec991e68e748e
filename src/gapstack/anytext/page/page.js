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
}

/* The card shows a pronoun's candidates; it is inert until it is opened, and then corrects the link. */
const card = element("div", {id: "card", hidden: true});
document.body.append(card);
card.setAttribute("role", "dialog");
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
  if (event.key === "Escape") hide(!card.inert);
});
window.addEventListener("beforeunload", (event) => { if (!downloaded) event.preventDefault(); });
