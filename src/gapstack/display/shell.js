"use strict";
const data = JSON.parse(document.getElementById("data").textContent);

/* Everything that came from outside goes in as text: no markup is ever made of it. */
function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/* The page's address, #part?name=value&..., holds what is open and chosen, so that a link to it opens the same. */
const settings = new Map();
function readAddress() {
  const [part, query = ""] = location.hash.slice(1).split("?");
  settings.clear();
  new URLSearchParams(query).forEach((value, name) => settings.set(name, value));
  return part;
}
function address(part) {
  const query = new URLSearchParams([...settings]).toString();
  return `#${part}${query && "?"}${query}`;
}
/* Keeps what was chosen; an empty value is the default and is left out. */
function remember(name, value) {
  if (value === "") settings.delete(name); else settings.set(name, value);
  history.replaceState(null, "", address(openTab()));
}

/* Tabs: one part of the page is open; arrow keys go from tab to tab. */
const nav = document.querySelector("nav");
const tabs = [...nav.querySelectorAll(".tabs a")];
const panels = tabs.map((tab) => document.getElementById(tab.hash.slice(1)));
function openTab() {
  return panels.find((panel) => !panel.hidden).id;
}
function openPart(id) {
  const target = document.getElementById(id);
  const open = target?.closest(".panel") ?? panels[0];
  panels.forEach((panel, k) => {
    panel.hidden = panel !== open;
    tabs[k].setAttribute("aria-selected", panel === open);
    tabs[k].tabIndex = panel === open ? 0 : -1;
    if (panel === open) tabs[k].scrollIntoView({block: "nearest", inline: "nearest"});
  });
  if (target && target !== open) target.scrollIntoView();
  else if (nav.getBoundingClientRect().top <= 0) window.scrollTo(0, document.querySelector("main").offsetTop - nav.offsetHeight);
}
nav.querySelector(".tabs").setAttribute("role", "tablist");
tabs.forEach((tab, k) => {
  Object.assign(tab, {id: `tab-${panels[k].id}`, role: "tab"}).setAttribute("aria-controls", panels[k].id);
  panels[k].setAttribute("role", "tabpanel");
  panels[k].setAttribute("aria-labelledby", tab.id);
  tab.addEventListener("click", (event) => {
    event.preventDefault();
    history.pushState(null, "", address(panels[k].id));
    openPart(panels[k].id);
  });
  tab.addEventListener("keydown", (event) => {
    const to = {ArrowRight: k + 1, ArrowLeft: k - 1, Home: 0, End: tabs.length - 1}[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const other = tabs[(to + tabs.length) % tabs.length];
    other.click();
    other.focus({preventScroll: true});
  });
});
document.documentElement.classList.add("tabbed");
function followAddress() {
  const part = readAddress();
  window.dispatchEvent(new Event("settings"));  // who draws by them draws first, then there is something to scroll to
  openPart(part);
}
window.addEventListener("hashchange", followAddress);
window.addEventListener("DOMContentLoaded", followAddress);

const theme = themeButton();
nav.append(theme);

/* Members: the picker shows some of them, everywhere. */
const picked = new Set((data.members ?? []).map((_, k) => k));
function pick() {
  const names = new Set([...picked].map((k) => data.members[k].name));
  for (const row of document.querySelectorAll("tr[data-member]")) row.hidden = !names.has(row.dataset.member);
  window.dispatchEvent(new Event("picked"));
}
if (picked.size > 1) {
  const count = element("span", {});
  const every = element("button", {type: "button"}, "All");
  const none = element("button", {type: "button"}, "The best alone");
  const boxes = data.members.map((member, k) => element("input", {type: "checkbox", value: k}));
  const labels = boxes.map((box, k) => element("label", {}, box, ` ${k + 1} ${data.members[k].name}`));
  const picker = element("details", {className: "picker"}, element("summary", {}, "Systems ", count),
    element("div", {}, every, " ", none, ...labels));
  const show = () => {
    boxes.forEach((box, k) => { box.checked = picked.has(k); });
    count.textContent = `${picked.size} of ${boxes.length}`;
    pick();
  };
  const choose = (places) => {
    picked.clear();
    for (const k of places.length ? places : [0]) picked.add(k);  // a page without members shows nothing
    remember("members", picked.size === boxes.length ? "" : [...picked].join("."));
    show();
  };
  every.addEventListener("click", () => choose([...boxes.keys()]));
  none.addEventListener("click", () => choose([0]));
  picker.addEventListener("change", () => choose([...boxes.keys()].filter((k) => boxes[k].checked)));
  picker.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    picker.open = false;
    picker.querySelector("summary").focus();
  });
  document.addEventListener("click", (event) => { if (!picker.contains(event.target)) picker.open = false; });
  window.addEventListener("settings", () => {
    const places = (settings.get("members") ?? "").split(".").filter((k) => k !== "" && boxes[k]).map(Number);
    picked.clear();
    for (const k of places.length ? places : boxes.keys()) picked.add(k);
    show();
  });
  nav.insertBefore(picker, theme);
}

/* Tables: a click on a heading sorts by its column, numbers as numbers. */
function sortBy(heading) {
  const body = heading.closest("table").tBodies[0];
  const column = [...heading.parentNode.children].indexOf(heading);
  const up = heading.getAttribute("aria-sort") !== "ascending";
  for (const other of heading.parentNode.children) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", up ? "ascending" : "descending");
  const key = (row) => {
    const cell = row.cells[column];
    const value = cell.dataset.value ?? cell.textContent;
    return value === "" || Number.isNaN(Number(value)) ? value : Number(value);
  };
  const compare = (one, other) => {
    if (one === other) return 0;
    if (one === "" || other === "") return one === "" ? 1 : -1;  // what has no value comes last
    const less = typeof one === typeof other ? one < other : typeof one === "number";
    return (less ? -1 : 1) * (up ? 1 : -1);
  };
  body.append(...[...body.rows].map((row) => [key(row), row]).sort((x, y) => compare(x[0], y[0])).map((x) => x[1]));
}
document.addEventListener("click", (event) => {
  const heading = event.target.closest("table.sortable thead th");
  if (heading) sortBy(heading);
});

/* A table as CSV, unrounded, the ends of an interval next to it; no text in it is a formula to a spreadsheet. */
function csv(table) {
  const [head, ...rows] = [...table.rows].filter((row) => !row.hidden).map((row) => [...row.cells]);
  const ranged = head.map((_, k) => rows.some((row) => row[k].dataset.low !== undefined));
  const title = (cell) => cell.querySelector("button").textContent;
  const quote = (text) => `"${(/^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(text) && Number.isNaN(Number(text)) ? "'" : "") + text.replaceAll('"', '""')}"`;
  const line = (cells, ends, own) => cells.flatMap((cell, k) => [own(cell), ...(ranged[k] ? ends(cell) : [])]).map(quote).join(",");
  return [
    line(head, (cell) => [`${title(cell)} low`, `${title(cell)} high`], title),
    ...rows.map((row) => line(row, (cell) => [cell.dataset.low ?? "", cell.dataset.high ?? ""],
      (cell) => cell.dataset.value ?? cell.textContent)),
  ].join("\n") + "\n";
}
/* The head of a table, which stands before it, gets the button. */
function addCopy(place) {
  const copy = element("button", {type: "button"}, "Copy CSV");
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(csv(place.nextElementSibling.querySelector("table")));
      copy.textContent = "Copied";
    } catch (refusal) {
      copy.textContent = `Not copied: ${refusal.message}`;
    }
    setTimeout(() => { copy.textContent = "Copy CSV"; }, 2000);
  });
  place.append(copy);
  return place;
}
document.querySelectorAll(".tablehead").forEach(addCopy);

/* What is folded up is printed too. */
window.addEventListener("beforeprint", () => document.querySelectorAll("main details").forEach((part) => { part.open = true; }));

/* A text whose spans [start, end, class, title] are marked; a span within another is marked in it. */
function highlighted(text, spans) {
  const made = element("p", {className: "text"});
  const open = [{node: made, end: text.length}];
  let at = 0;
  const write = (end) => {
    open.at(-1).node.append(text.slice(at, end));
    at = end;
  };
  const close = (start) => {
    while (open.length > 1 && open.at(-1).end <= start) {
      const {node, end, title} = open.at(-1);
      write(end);
      node.append(element("sub", {}, title));
      open.pop();
    }
    write(start);
  };
  for (const [start, end, kind, title] of [...spans].sort((one, other) => one[0] - other[0] || other[1] - one[1])) {
    close(start);
    const node = element("mark", {className: kind});
    open.at(-1).node.append(node);
    open.push({node, end: Math.min(end, open.at(-1).end), title});
  }
  close(text.length);
  return made;
}

/* Choices of a form follow the address, and the address them; names of options go there, not their places. */
function rememberForm(form, draw) {
  const chosen = (field) => (field.tagName === "SELECT" ? field.selectedOptions[0].textContent : field.value);
  const fields = () => [...form.elements].filter((field) => field.name);
  const store = () => {
    for (const field of fields()) {
      const standard = field.tagName === "SELECT" ? field.selectedIndex === 0 : field.value === "";
      if (standard) settings.delete(field.name); else settings.set(field.name, chosen(field));
    }
    history.replaceState(null, "", address(openTab()));
    draw();
  };
  form.addEventListener("input", store);
  form.addEventListener("reset", () => setTimeout(store));
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("settings", () => {
    for (const field of fields()) {
      const value = settings.get(field.name) ?? "";
      if (field.tagName !== "SELECT") field.value = value;
      else field.selectedIndex = Math.max(0, [...field.options].findIndex((option) => option.textContent === value));
    }
    draw();
  });
}
