"use strict";
const [PEOPLE, RIGHT, MASCULINE, FEMININE] = [0, 1, 2, 3];
const [TEXT, PRONOUN, A, B, GIVEN] = [0, 1, 2, 3, 4];
const PAGE = 10;

/* Pairs of sentences, each with whom a system takes the pronoun for. */
function side(pair, which, system) {
  const [text, pronoun, a, b] = pair[which];
  const given = pair[which][GIVEN][system];
  const to = given === 2 ? "neither" : text.slice(...pair[which][given === 0 ? A : B]);
  const right = given === pair[RIGHT];
  return [
    highlighted(text, [[...pronoun, "pronoun", ""], [...a, "a", "A"], [...b, "b", "B"]]),
    element("span", {className: `to ${right ? "right" : "wrong"}`}, `${right ? "✓" : "✗"} ${to}`),
  ];
}
function card(pair, system) {
  return element("li", {}, element("div", {className: "head"}, element("strong", {}, pair[PEOPLE])),
    ...side(pair, MASCULINE, system), ...side(pair, FEMININE, system));
}
const form = document.getElementById("filters");
if (form) {
  const list = document.getElementById("list");
  const more = document.getElementById("more");
  let found = [];
  let shown = 0;
  data.systems.forEach((name, k) => form.elements.system.append(element("option", {value: k}, name)));
  const showMore = () => {
    const system = Number(form.elements.system.value);
    list.append(...found.slice(shown, shown + PAGE).map((pair) => card(pair, system)));
    shown = Math.min(found.length, shown + PAGE);
    more.hidden = shown >= found.length;
  };
  const filter = () => {
    const system = Number(form.elements.system.value);
    const text = form.elements.text.value.toLowerCase();
    found = data.pairs.filter((pair) =>
      (form.elements.which.value === "" || pair[MASCULINE][GIVEN][system] !== pair[FEMININE][GIVEN][system])
      && (pair[MASCULINE][TEXT] + "\n" + pair[FEMININE][TEXT]).toLowerCase().includes(text));
    shown = 0;
    list.replaceChildren();
    document.getElementById("count").textContent = `${found.length} of ${data.pairs.length} pairs`;
    showMore();
  };
  rememberForm(form, filter);
  more.addEventListener("click", showMore);
}
