"use strict";
const [ID, URL_, TEXT, PRONOUN, A, B, LABELS, VALUES, ANSWERS, TRUST] = Array.from({length: 10}, (_, k) => k);
const CHOICES = ["A", "B", "NEITHER"];
const CLASSES = ["a", "b", "neither"];
const PAGE = 10;

const memberNames = data.members.map((member) => member.name);
function number(value, decimals) {
  return value === null ? "-" : value.toFixed(decimals);
}
function fill(select, titles, first) {
  if (first !== undefined) select.append(element("option", {value: ""}, first));
  titles.forEach((title, k) => select.append(element("option", {value: k}, title)));
}
/* A name that may break after an underscore. */
function breakable(name) {
  return element("span", {}, ...name.split(/(?<=_)/).flatMap((part) => [part, element("wbr", {})]));
}
/* A table of rows [name, ...cells], a cell [text, value, class, low, high]. */
function drawTable(table, titles, rows, helps = []) {
  const head = titles.map((title, k) => element("th", {scope: "col"}, element("button", {type: "button", title: helps[k] ?? ""}, title)));
  const body = rows.map(([name, ...cells]) => element("tr", {}, element("th", {scope: "row"}, name),
    ...cells.map(([text, value, className = "", low = null, high = null]) => {
      const cell = element("td", {className}, text);
      cell.dataset.value = value ?? "";
      if (low !== null) Object.assign(cell.dataset, {low, high});
      return cell;
    })));
  table.replaceChildren(element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body));
}

/* Slices of one member. */
const sliceForm = document.getElementById("slice-form");
fill(sliceForm.elements.slices, memberNames);
function drawSlices() {
  const member = Number(sliceForm.elements.slices.value);
  drawTable(document.getElementById("slice-table"), ["slice", "rows", ...data.sliceColumns.map((column) => column.title)],
    data.slices.map((slice) => [`${slice.dimension}: ${slice.value}`, [slice.rows.toLocaleString("en"), slice.rows],
      ...data.sliceColumns.map(({key, decimals}) => {
        const [value, low, high] = slice.scores[key][member];
        const range = low === null ? "" : `[${number(low, decimals)}, ${number(high, decimals)}]`;
        const gap = key.endsWith("_gap");
        const note = element("small", {}, gap && range ? ` ${range}` : "");
        const clear = gap && low !== null && (low > 0 || high < 0);
        return [element("span", {title: range}, number(value, decimals), note), value, clear ? "clear" : "", low, high];
      })]), ["", "", ...data.sliceColumns.map((column) => column.help)]);
}
rememberForm(sliceForm, drawSlices);

/* Two members: where one is right and the other wrong. */
const pairForm = document.getElementById("pair");
function drawPair() {
  const [one, other] = [Number(pairForm.elements.one.value), Number(pairForm.elements.other.value)];
  const place = document.getElementById("pair-outcomes");
  const counts = [[0, 0], [0, 0]];
  for (const example of data.examples) counts[Number(example.right(one))][Number(example.right(other))] += 1;
  const link = (count, filters) => {
    const query = new URLSearchParams(filters);
    return [element("a", {href: `#examples?${query}`}, count.toLocaleString("en")), count];
  };
  const names = [memberNames[one], memberNames[other]];
  const outcomes = element("table", {className: "sortable"});
  const named = (k, outcome) => breakable(`${names[k]} ${outcome}`);
  drawTable(outcomes, ["rows", named(1, "right"), named(1, "wrong")], [
    [named(0, "right"), link(counts[1][1], [["right", names[0]], ["also-right", names[1]]]),
      link(counts[1][0], [["right", names[0]], ["wrong", names[1]]])],
    [named(0, "wrong"), link(counts[0][1], [["right", names[1]], ["wrong", names[0]]]),
      link(counts[0][0], [["wrong", names[0]], ["also-wrong", names[1]]])],
  ]);
  const tested = data.plots.find((plot) => plot.id === "wins")?.views ?? [];
  const differences = element("table", {className: "sortable"});
  drawTable(differences, ["score", "difference", "p (Holm)", "verdict"], tested.map((view) => {
    const {low, high, p, better} = view.tests;
    const gain = view.values[one][other];
    const shown = (value) => number(value, view.decimals);
    const verdict = p[one][other] === null || p[one][other] > 0.05 ? "not significant" : gain > 0 ? "better" : "worse";
    const [difference, from, to] = [gain && better * gain, low[one][other], high[one][other]];
    return [view.title, [`${shown(difference)} [${shown(from)}, ${shown(to)}]`, difference, "", from, to],
      [number(p[one][other], 3), p[one][other]], [verdict, verdict]];
  }));
  const headed = (title, table) => element("div", {}, addCopy(element("div", {className: "tablehead"}, element("h3", {}, title))),
    element("div", {className: "scroll", tabIndex: 0, role: "region", ariaLabel: title}, table));
  place.replaceChildren(...(one === other ? [] : [
    element("div", {className: "side"}, headed("Rows that each has right", outcomes), headed("Differences of scores", differences))]));
}

/* Examples: what each member answers, how far they agree. */
for (const example of data.examples) {
  const given = example[ANSWERS].map(([, , choice]) => choice);
  const counts = CHOICES.map((_, choice) => given.filter((one) => one === choice).length);
  example.given = given;
  example.right = (k) => given[k] === example[LABELS][0];
  example.agreeing = Math.max(...counts) / given.length;
  example.wrong = given.filter((one) => one !== example[LABELS][0]).length;
  example.differ = new Set(example[LABELS]).size > 1;
  example.search = (example[ID] + "\n" + example[TEXT]).toLowerCase();
}

const form = document.getElementById("filters");
const list = document.getElementById("list");
const more = document.getElementById("more");
fill(form.elements.label, CHOICES, "any");
for (const name of ["right", "wrong", "also-right", "also-wrong"]) fill(form.elements[name], memberNames, "any system");
data.dimensions.forEach((dimension) => {
  const select = element("select", {name: `slice ${dimension.name}`});
  fill(select, dimension.values, "any");
  document.getElementById("dimension-filters").append(
    element("label", {title: dimension.title}, dimension.name, select));
});
const ids = new Set(data.examples.map((example) => example[ID]));

let found = [];
let shown = 0;
function matches(example, wanted) {
  const label = example[LABELS][0];
  const each = (names, test) => names.every((name) => wanted[name] === "" || test(Number(wanted[name])));
  return (wanted.text === "" || (ids.has(wanted.text) ? example[ID] === wanted.text : example.search.includes(wanted.text.toLowerCase())))
    && (wanted.label === "" || label === Number(wanted.label))
    && (wanted.agreement === "" || (wanted.agreement === "all" ? example.agreeing === 1
      : wanted.agreement === "some" ? example.agreeing < 1 : example.agreeing < 2 / 3))
    && each(["right", "also-right"], example.right)
    && each(["wrong", "also-wrong"], (k) => !example.right(k))
    && (wanted.corrected === "" || (wanted.corrected === "yes") === example.differ)
    && data.dimensions.every(({name}, k) => wanted[`slice ${name}`] === "" || example[VALUES][k] === Number(wanted[`slice ${name}`]));
}
const ORDERS = {
  disagreement: (one, other) => one.agreeing - other.agreeing,
  wrong: (one, other) => other.wrong - one.wrong,
  trust: (one, other) => (one[TRUST] ?? 1000) - (other[TRUST] ?? 1000),
};
function filter() {
  const wanted = Object.fromEntries(new FormData(form));
  found = data.examples.filter((example) => matches(example, wanted));
  if (wanted.order) found.sort(ORDERS[wanted.order]);
  shown = 0;
  list.replaceChildren();
  document.getElementById("count").textContent =
    `${found.length.toLocaleString("en")} of ${data.examples.length.toLocaleString("en")} rows`;
  showMore();
}
function showMore() {
  list.append(...found.slice(shown, shown + PAGE).map(card));
  shown = Math.min(found.length, shown + PAGE);
  more.hidden = shown >= found.length;
}
function card(example) {
  const head = element("div", {className: "head"}, element("strong", {}, example[ID]));
  const byLabel = new Map();
  data.labelSets.forEach((name, k) => {
    const label = CHOICES[example[LABELS][k]];
    byLabel.set(label, [...(byLabel.get(label) ?? []), name]);
  });
  for (const [label, names] of byLabel) {
    head.append(element("span", {}, byLabel.size > 1 ? `right: ${label} (${names.join(", ")})` : `right: ${label}`));
  }
  const wrong = [...picked].filter((k) => !example.right(k)).length;
  head.append(element("span", {}, `${wrong} of ${picked.size} ${picked.size === 1 ? "system" : "systems"} wrong`));
  if (/^https?:\/\//.test(example[URL_])) {
    head.append(element("a", {href: example[URL_], rel: "noopener noreferrer", target: "_blank"}, "Wikipedia page"));
  }
  const spans = [[...example[PRONOUN], "pronoun", "pronoun"], [...example[A], "a", "A"], [...example[B], "b", "B"]];
  return element("li", {}, head, highlighted(example[TEXT], spans), answersOf(example));
}
function answersOf(example) {
  const grid = element("div", {className: "answers"});
  for (const k of [...picked].sort((one, other) => one - other)) {
    const member = data.members[k];
    const [a, b] = example[ANSWERS][k];
    const parts = member.soft ? [a, b, Math.max(0, 1000 - a - b)] : CHOICES.map((_, c) => example.given[k] === c ? 1000 : 0);
    const bar = element("div", {className: "bar"});
    parts.forEach((part, c) => {
      const piece = element("i", {className: CLASSES[c], title: `${CHOICES[c]} ${(part / 1000).toFixed(3)}`});
      piece.style.width = `${part / 10}%`;
      bar.append(piece);
    });
    const given = example.given[k];
    const right = example.right(k);
    const said = (CHOICES[given] ?? (a && b ? "A and B" : "no answer")) + (member.soft ? ` ${(parts[given] / 1000).toFixed(2)}` : "");
    grid.append(element("span", {className: "name", title: member.name}, member.name), bar,
      element("span", {className: right ? "right" : "wrong"}, `${right ? "✓" : "✗"} ${said}`));
  }
  return grid;
}
rememberForm(form, filter);
more.addEventListener("click", showMore);
window.addEventListener("picked", filter);

if (pairForm) {  // the stack against the best, or the best against the next
  const stack = Math.max(0, memberNames.findIndex((name) => /(^|:)stack$/.test(name)));
  const order = [stack, ...memberNames.keys()].filter((k, place, all) => all.indexOf(k) === place);
  for (const [select, first] of [[pairForm.elements.one, order[0]], [pairForm.elements.other, order[1]]]) {
    for (const k of [first, ...order.filter((other) => other !== first)]) select.append(element("option", {value: k}, memberNames[k]));
  }
  rememberForm(pairForm, drawPair);
}
