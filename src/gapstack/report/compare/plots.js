"use strict";
/* Plots, drawn as SVG when they come near the screen. A view is chosen from a list, series by their boxes. */
const COLOURS = ["#1f6fb4", "#c8553d", "#3c8d53", "#8a5fb0", "#b8860b"];
const LINE = 18;

function svg(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
function told(value) {
  return value === null ? "-" : Number(value.toPrecision(4)).toString();
}
/* Names often differ in their ends alone, so the middle goes. */
function cut(text, width) {
  const letters = Math.max(6, Math.floor(width / 7.6));
  const head = Math.floor(letters / 3);
  return text.length > letters ? `${text.slice(0, head)}…${text.slice(text.length - (letters - head - 1))}` : text;
}
function label(text, width, attributes) {
  return svg("text", {dy: "0.35em", ...attributes}, cut(text, width), svg("title", {}, text));
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
function axis(root, scale, low, high, left, right, top, bottom) {
  for (const tick of ticks(low, high, Math.max(2, (right - left) / 80))) {
    root.append(svg("line", {class: "grid", x1: scale(tick), x2: scale(tick), y1: top, y2: bottom}),
      svg("text", {x: scale(tick), y: bottom + 14, "text-anchor": "middle"}, tick));
  }
}

/* Dots: a line for each row, on it a mark with its interval for each series. */
function dots(plot, view, chosen, width) {
  const series = view.series.map((one, k) => ({...one, k})).filter((one) => chosen.has(one.k));
  const values = series.flatMap((one) => one.ends.flat()).filter((value) => value !== null);
  if (plot.line !== undefined) values.push(plot.line);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const left = Math.min(260, width * 0.42), right = width - 12;
  const scale = (value) => left + 8 + ((value - low) / (high - low || 1)) * (right - left - 8);
  const step = Math.max(LINE, 8 * series.length + 8), bottom = 6 + step * view.rows.length;
  const root = svg("svg", {width, height: bottom + 20, role: "img", "aria-label": `${plot.title}, ${view.title}`});
  axis(root, scale, low, high, left, right, 0, bottom);
  if (plot.line !== undefined) {
    root.append(svg("line", {class: "zero", x1: scale(plot.line), x2: scale(plot.line), y1: 0, y2: bottom}));
  }
  view.rows.forEach((name, row) => {
    root.append(label(name, left, {x: left, y: 6 + step * (row + 0.5), "text-anchor": "end"}));
    series.forEach((one, place) => {
      const [value, start, end] = one.ends[row];
      if (value === null) return;
      const y = 6 + step * row + (step * (place + 1)) / (series.length + 1);
      const tip = `${name}, ${one.name}: ${told(value)} (${told(start)} to ${told(end)})`;
      if (start !== null) root.append(svg("line", {x1: scale(start), x2: scale(end), y1: y, y2: y, stroke: COLOURS[one.k], "stroke-width": 2}));
      root.append(svg("circle", {cx: scale(value), cy: y, r: 5, fill: COLOURS[one.k], "data-tip": tip, tabindex: -1}));
    });
  });
  return root;
}

/* Matrix: a square for each pair; blue above and red below 0 where it diverges, else the darker the more. */
function matrix(plot, view, chosen, width) {
  const count = view.names.length, left = Math.min(230, width * 0.42);
  const size = Math.min(44, Math.max(18, (width - left - 4) / count)), top = 20;
  const root = svg("svg", {width: left + size * count + 4, height: top + size * count + 4, role: "img",
    "aria-label": `${plot.title}, ${view.title}`});
  const known = view.values.flatMap((row, i) => row.filter((value, j) => value !== null && i !== j));
  const most = Math.max(...known.map(Math.abs), 1e-12);
  const least = plot.diverging ? 0 : Math.min(...known);
  view.names.forEach((name, i) => {
    const middle = top + size * (i + 0.5);
    root.append(label(`${i + 1} ${name}`, left - 8, {x: left - 6, y: middle, "text-anchor": "end"}),
      svg("text", {x: left + size * (i + 0.5), y: top - 6, "text-anchor": "middle"}, i + 1));
    view.names.forEach((other, j) => {
      const value = view.values[i][j];
      if (i === j || value === null) return;
      const share = (Math.abs(value) - least) / (most - least || 1);
      const fill = plot.diverging && value < 0 ? `rgba(200,85,61,${0.9 * share})` : `rgba(31,111,180,${0.05 + 0.85 * share})`;
      const notes = (view.notes ?? []).map(([title, ...each]) => `; ${title} ${each.map((one) => told(one[i][j])).join(", ")}`);
      const tip = `${name} against ${other}: ${told(value)}${notes.join("")}`;
      root.append(svg("rect", {x: left + size * j, y: top + size * i, width: size - 1, height: size - 1, fill, "data-tip": tip, tabindex: -1}));
      if (view.signs) {
        root.append(svg("text", {x: left + size * (j + 0.5), y: middle, dy: "0.35em", "text-anchor": "middle", "pointer-events": "none"}, view.signs[i][j]));
      }
    });
  });
  return root;
}

/* Curve: share right against stated confidence, beside the diagonal. */
function curve(plot, view, chosen, width) {
  const side = Math.min(width - 60, 420), left = 44, bottom = side + 6;
  const x = (value) => left + value * side, y = (value) => bottom - value * side;
  const root = svg("svg", {width: left + side + 16, height: bottom + 36, role: "img", "aria-label": `${plot.title}, ${view.title}`});
  axis(root, x, 0, 1, left, left + side, 6, bottom);
  for (const tick of [0, 0.2, 0.4, 0.6, 0.8, 1]) {
    root.append(svg("text", {x: left - 6, y: y(tick), dy: "0.35em", "text-anchor": "end"}, tick));
  }
  root.append(svg("line", {class: "zero", x1: x(0), y1: y(0), x2: x(1), y2: y(1)}),
    svg("text", {x: x(0.5), y: bottom + 30, "text-anchor": "middle"}, "confidence, and share right upwards"),
    svg("polyline", {points: view.points.map(([said, right]) => `${x(said)},${y(right)}`).join(" "), fill: "none", stroke: COLOURS[0]}));
  const most = Math.max(...view.points.map((point) => point[2]));
  for (const [said, right, rows] of view.points) {
    root.append(svg("circle", {cx: x(said), cy: y(right), r: 3 + 7 * Math.sqrt(rows / most), fill: COLOURS[0], "fill-opacity": 0.8, tabindex: -1,
      "data-tip": `says ${told(said)}, is right ${told(right)} of the time in ${rows} rows`}));
  }
  return root;
}

const DRAW = {dots, matrix, curve};
function placePlot(plot) {
  const place = element("div", {className: "plot scroll", tabIndex: 0});
  const tip = element("output", {});
  const controls = element("div", {className: "controls"});
  const select = element("select", {ariaLabel: `View of ${plot.title}`});
  plot.views.forEach((view, k) => select.append(element("option", {value: k}, view.title)));
  if (plot.views.length > 1) controls.append(select);
  const series = plot.views[0].series ?? [];
  const chosen = new Set(series.length > 2 ? [0] : series.keys());
  const draw = () => place.replaceChildren(
    DRAW[plot.kind](plot, plot.views[Number(select.value)], chosen, place.clientWidth - 2));
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
  for (const kind of ["pointerover", "click"]) {
    place.addEventListener(kind, (event) => {
      const mark = event.target.closest("[data-tip]");
      if (mark) tip.textContent = mark.dataset.tip;
    });
  }
  const figure = element("figure", {id: `plot-${plot.id}`}, element("h3", {}, plot.title), controls, place, tip,
    element("figcaption", {}, plot.caption));
  document.getElementById("plots").append(figure);
  return {figure, draw};
}
const placed = data.plots.map(placePlot);
const seen = new Set();
const sight = new IntersectionObserver((entries) => {
  for (const entry of entries.filter((one) => one.isIntersecting)) {
    const found = placed.find((one) => one.figure === entry.target);
    sight.unobserve(entry.target);
    seen.add(found);
    found.draw();
  }
}, {rootMargin: "400px"});
for (const {figure} of placed) sight.observe(figure);
window.addEventListener("resize", () => seen.forEach((one) => one.draw()));
