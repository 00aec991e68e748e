"use strict";
/* Plots, drawn as SVG when they come near the screen. A view is chosen from a list, series by their boxes. */
const COLOURS = Array.from({length: 8}, (_, k) => `var(--c${k})`);
const DASHES = ["none", "7 3", "2 3"];  // after the last colour
const LINE = 18;

function svg(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
function short(value) {
  return value === null ? "-" : Number(value.toPrecision(4)).toString();
}
const pen = document.createElement("canvas").getContext("2d");
pen.font = "12px system-ui, sans-serif";
function extent(text) {
  return pen.measureText(text).width;
}
/* Room for the longest label, of half the width at most. */
function room(labels, width) {
  return Math.min(width / 2, Math.max(48, ...labels.map(extent)) + 8);
}
/* Names often differ in their ends alone, so the middle goes. */
function cut(text, width) {
  let shown = text;
  for (let letters = text.length - 1; letters > 6 && extent(shown) > width; letters -= 1) {
    const head = Math.floor(letters / 3);
    shown = `${text.slice(0, head)}…${text.slice(text.length - (letters - head - 1))}`;
  }
  return shown;
}
function label(text, width, attributes) {
  return svg("text", {dy: "0.35em", ...attributes}, cut(text, width), svg("title", {}, text));
}
/* A drawing of this size, which a page on paper may shrink. */
function drawing(width, height, title) {
  return svg("svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title});
}
/* Ticks at round numbers that cover the range. */
function ticks(low, high, most) {
  const rough = (high - low) / most || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high + step / 1e6; k += 1) found.push(Number((k * step).toPrecision(12)));
  return found;
}
/* Grid lines with their numbers, and below them what these are. */
function axis(root, scale, low, high, left, right, top, bottom, title) {
  for (const tick of ticks(low, high, Math.max(2, (right - left) / 80))) {
    root.append(svg("line", {class: "grid", x1: scale(tick), x2: scale(tick), y1: top, y2: bottom}),
      svg("text", {x: scale(tick), y: bottom + 14, "text-anchor": "middle"}, tick));
  }
  const half = extent(title) / 2;
  root.append(svg("text", {x: Math.max(half, Math.min((left + right) / 2, right - half)), y: bottom + 32, "text-anchor": "middle"}, title));
}

/* Dots: a line for each row, on it a mark with its interval for each series. */
function dots(plot, view, chosen, width) {
  const rows = [...view.rows.keys()].filter((row) => !view.members || picked.has(view.members[row]));
  const series = view.series.map((one, k) => ({...one, k})).filter((one) => chosen.has(one.k));
  const values = series.flatMap((one) => rows.flatMap((row) => one.ends[row])).filter((value) => value !== null);
  if (plot.line !== undefined) values.push(plot.line);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const left = room(rows.map((row) => view.rows[row]), width), right = width - 12;
  const scale = (value) => left + 8 + ((value - low) / (high - low || 1)) * (right - left - 8);
  const step = Math.max(LINE, 8 * series.length + 8), bottom = 6 + step * rows.length;
  const root = drawing(width, bottom + 40, `${plot.title}, ${view.title}`);
  axis(root, scale, low, high, left, right, 0, bottom, view.axis);
  if (plot.line !== undefined) {
    root.append(svg("line", {class: "zero", x1: scale(plot.line), x2: scale(plot.line), y1: 0, y2: bottom}));
  }
  rows.forEach((row, line) => {
    const name = view.rows[row], note = view.notes?.[row] ? `, ${view.notes[row]}` : "";
    root.append(label(name, left, {x: left, y: 6 + step * (line + 0.5), "text-anchor": "end"}));
    series.forEach((one, place) => {
      const [value, start, end] = one.ends[row];
      if (value === null) return;
      const y = 6 + step * line + (step * (place + 1)) / (series.length + 1);
      const tip = `${name}, ${one.name}: ${short(value)} (${short(start)} to ${short(end)})${note}`;
      if (start !== null) root.append(svg("line", {x1: scale(start), x2: scale(end), y1: y, y2: y, stroke: COLOURS[one.k], "stroke-width": 2}));
      root.append(svg("circle", {cx: scale(value), cy: y, r: 5, fill: COLOURS[one.k], "data-tip": tip, tabindex: -1}));
    });
  });
  return root;
}

/* Matrix: a square for each pair; blue above and red below 0 where it diverges, else the darker the more. */
function matrix(plot, view, chosen, width) {
  const places = [...picked].sort((one, other) => one - other);
  const count = places.length;
  const left = Math.max(60, Math.min(room(places.map((i) => `${i + 1} ${view.names[i]}`), width), width - 4 - 16 * count));
  const size = Math.min(44, Math.max(16, (width - left - 4) / count)), top = 20, bottom = top + size * count + 4;
  const root = drawing(left + size * Math.max(count, 7) + 4, bottom + 30, `${plot.title}, ${view.title}`);
  const known = places.flatMap((i) => places.filter((j) => i !== j).map((j) => view.values[i][j])).filter((value) => value !== null);
  const most = Math.max(...known.map(Math.abs), 1e-12);
  const least = plot.diverging ? 0 : Math.min(...known);
  const square = (value, place) => svg("rect", {...place, fill: value < 0 && plot.diverging ? "var(--b)" : "var(--a)",
    "fill-opacity": 0.06 + 0.54 * (Math.abs(value) - least) / (most - least || 1)});
  legend();
  places.forEach((i, row) => {
    const name = view.names[i], middle = top + size * (row + 0.5);
    root.append(label(`${i + 1} ${name}`, left - 8, {x: left - 6, y: middle, "text-anchor": "end"}),
      svg("text", {x: left + size * (row + 0.5), y: top - 6, "text-anchor": "middle", class: size < 20 ? "small" : ""}, i + 1));
    places.forEach((j, column) => {
      const other = view.names[j];
      const value = view.values[i][j];
      if (i === j || value === null) return;
      const {tests} = view;
      const shown = tests ? `${short(tests.better * value)} (${short(tests.low[i][j])} to ${short(tests.high[i][j])}), ${tests.p[i][j] < 0.001 ? "p<0.001" : `p=${tests.p[i][j].toFixed(3)}`} (Holm)` : short(value);
      const tip = `${name} against ${other}: ${shown}`;
      root.append(square(value, {x: left + size * column, y: top + size * row, width: size - 1, height: size - 1, rx: 3, "data-tip": tip, tabindex: -1}));
      if (view.signs) {
        root.append(svg("text", {x: left + size * (column + 0.5), y: middle, dy: "0.35em", "text-anchor": "middle", "pointer-events": "none"}, view.signs[i][j]));
      }
    });
  });
  return root;

  /* The colours from the lowest to the highest value; a single value has no scale. */
  function legend() {
    if (!plot.diverging && most === least) return;
    const lowest = plot.diverging ? -most : least, steps = 9, wide = 14, middle = bottom + 12;
    const [first, last] = plot.diverging ? ["worse", "better"] : [short(lowest), short(most)];
    const start = left + extent(first) + 6;
    root.append(svg("text", {x: left, y: middle, dy: "0.35em"}, first),
      ...Array.from({length: steps}, (_, k) => square(lowest + (k / (steps - 1)) * (most - lowest), {x: start + wide * k, y: middle - 6, width: wide, height: 12})),
      svg("text", {x: start + wide * steps + 6, y: middle, dy: "0.35em"}, last));
  }
}

/* Curves: a line for each picked member, or for each training of one, told apart by colour and dashes. */
function curves(plot, view, chosen, width) {
  const one = new Set(view.lines.map((line) => line.member)).size === 1;
  const lines = view.lines.filter((line) => one || picked.has(line.member));
  const left = 54, side = Math.min(width - left - 16, 560), tall = Math.min(side, 320), bottom = tall + 6;
  const names = lines.map(({name, member}) => (one ? name : `${member + 1} ${name}`)), half = Math.ceil(lines.length / 2);
  const second = 44 + Math.max(...names.slice(0, half).map(extent));  // where a second column of the legend starts
  const both = lines.length > 8 && second + 44 + Math.max(...names.slice(half).map(extent)) <= left + side;
  const legend = both ? half : lines.length;
  const largest = (k) => Math.max(...lines.flatMap((line) => line.points.map((point) => point[k])), 1e-6);
  const farthest = Math.max(1, largest(0)), most = view.diagonal ? 1 : largest(1) * 1.05;
  const x = (value) => left + (value / farthest) * side, y = (value) => bottom - (value / most) * tall;
  const root = drawing(left + side + 16, bottom + 50 + LINE * legend, `${plot.title}, ${view.title}`);
  axis(root, x, 0, farthest, left, left + side, 6, bottom, view.x);
  for (const tick of ticks(0, most, 5)) {
    root.append(svg("line", {class: "grid", x1: left, x2: left + side, y1: y(tick), y2: y(tick)}),
      svg("text", {x: left - 6, y: y(tick), dy: "0.35em", "text-anchor": "end"}, tick));
  }
  root.append(svg("text", {transform: `translate(12 ${bottom - tall / 2}) rotate(-90)`, "text-anchor": "middle"}, view.y));
  if (view.diagonal) root.append(svg("line", {class: "zero", x1: x(0), y1: y(0), x2: x(1), y2: y(1)}));
  lines.forEach(({name, points}, k) => {
    const rows = Math.max(...points.map((point) => point[2] ?? 0));
    const stroke = COLOURS[k % COLOURS.length], line = {stroke, "stroke-width": 2, "stroke-dasharray": DASHES[Math.floor(k / COLOURS.length) % DASHES.length]};
    root.append(svg("polyline", {points: points.map(([across, up]) => `${x(across)},${y(up)}`).join(" "), fill: "none", ...line}));
    for (const [across, up, count] of points) {
      const tip = `${name}: ${view.x} ${short(across)}, ${view.y} ${short(up)}${count === undefined ? "" : `, ${count} rows`}`;
      root.append(svg("circle", {cx: x(across), cy: y(up), r: count === undefined ? 4 : 3 + 4 * Math.sqrt(count / rows), fill: stroke,
        "fill-opacity": count === undefined ? 0 : 0.85, tabindex: -1, "data-tip": tip}));
    }
    const start = k < legend ? 10 : second + 10, middle = bottom + 52 + LINE * (k % legend);
    root.append(svg("line", {x1: start, x2: start + 24, y1: middle, y2: middle, ...line}),
      label(names[k], left + side - 44, {x: start + 32, y: middle}));
  });
  return root;
}

const DRAW = {dots, matrix, curves};
function placePlot(plot) {
  const place = element("div", {className: "plot scroll", tabIndex: 0, role: "region", ariaLabel: plot.title});
  const tip = element("output", {});
  const controls = element("div", {className: "controls"});
  const form = plot.follows && document.getElementById(plot.follows);
  const select = form ? form.querySelector("select") : element("select", {ariaLabel: `View of ${plot.title}`});
  if (!form) plot.views.forEach((view, k) => select.append(element("option", {value: k}, view.title)));
  if (!form && plot.views.length > 1) controls.append(select);
  const series = plot.views[0].series ?? [];
  const chosen = new Set(series.length > 2 ? [0] : series.keys());
  const draw = () => place.replaceChildren(
    DRAW[plot.kind](plot, plot.views[Number(select.value)], chosen, (place.clientWidth || 720) - 2));
  if (series.length > 1) {
    series.forEach((one, k) => {
      const box = element("input", {type: "checkbox", checked: chosen.has(k)});
      const dot = element("b", {});
      dot.style.background = COLOURS[k];
      controls.append(element("label", {}, box, dot, one.name));
      box.addEventListener("change", () => {
        if (box.checked) chosen.add(k); else chosen.delete(k);
        if (!chosen.size) { chosen.add(k); box.checked = true; }  // an empty plot says nothing
        draw();
      });
    });
  }
  select.addEventListener("change", draw);
  if (form) window.addEventListener("settings", () => { if (place.firstChild) draw(); });  // the address chooses
  place.addEventListener("keydown", (event) => {  // from mark to mark
    const marks = [...place.querySelectorAll("[data-tip]")], at = marks.indexOf(event.target);
    const to = {ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: marks.length - 1}[event.key];
    if (to === undefined || !marks[to]) return;
    event.preventDefault();
    marks[to].focus();
  });
  for (const kind of ["pointerover", "click", "focusin"]) {
    place.addEventListener(kind, (event) => {
      const mark = event.target.closest("[data-tip]");
      if (mark) tip.textContent = mark.dataset.tip;
    });
  }
  const figure = element("figure", {id: `plot-${plot.id}`}, element("h3", {}, plot.title), controls, place, tip,
    element("figcaption", {}, plot.caption));
  document.querySelector(`#${plot.part} .plotted`).append(figure);
  return {figure, draw};
}
const placed = data.plots.map(placePlot);
const sight = new IntersectionObserver((entries) => {
  for (const entry of entries.filter((one) => one.isIntersecting)) {
    sight.unobserve(entry.target);
    placed.find((one) => one.figure === entry.target).draw();
  }
}, {rootMargin: "400px"});
/* Drawn when it comes near the screen, and again after what it shows has changed. */
function drawAll() {
  for (const {figure} of placed) {
    sight.unobserve(figure);
    sight.observe(figure);
  }
}
for (const kind of ["picked", "resize"]) window.addEventListener(kind, drawAll);
window.addEventListener("beforeprint", () => placed.forEach((one) => one.draw()));
drawAll();
