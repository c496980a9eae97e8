// How the three problems, the curve and the weights are drawn. Each function answers with elements made of what it is given.
"use strict";

const BARS = 16; // weights that are listed

function element(tag, attributes = {}, ...content) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...content);
  return made;
}

function shape(tag, attributes = {}, ...content) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(name, value);
  made.append(...content);
  return made;
}

const short = (value) => String(Number(value.toPrecision(3))).replace("-", "−");

// ---- ranks: points, the direction, and a line for each threshold ----

function rankPicture(learner, averaged, last, width) {
  const size = Math.min(width, 560), reach = 1.85, scale = size / (2 * reach);
  const at = ([x, y]) => [size / 2 + scale * x, size / 2 - scale * y];
  const { problem } = learner, w = learner.weights(averaged), weight = (name) => w.get(name) ?? 0;
  const u = [weight("x"), weight("y")], length = Math.hypot(...u);
  const svg = shape("svg", { width: size, height: size, viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": "points with their ranks, the direction that orders them, and the lines of the thresholds between ranks" });
  svg.append(shape("rect", { x: 0.5, y: 0.5, width: size - 1, height: size - 1, class: "line", "stroke-opacity": 0.3 }));
  if (length > 0) {
    const [ux, uy] = u.map((value) => value / length);
    for (let k = 1; k < problem.ranks; k++) {
      const away = weight(`threshold ${k}|${k + 1}`) / length;
      if (Math.abs(away) > 2.6) continue;
      const [x1, y1] = at([away * ux - 4 * uy, away * uy + 4 * ux]), [x2, y2] = at([away * ux + 4 * uy, away * uy - 4 * ux]);
      svg.append(shape("line", { x1, y1, x2, y2, class: "boundary" }));
      const along = [2.4, 2.1, 1.8, 1.5].flatMap((t) => [-t, t]).map((t) => [away * ux - t * uy, away * uy + t * ux])
        .find((p) => p.every((v) => Math.abs(v) < 1.7));
      if (along) svg.append(shape("text", { x: at(along)[0] + 4, y: at(along)[1] - 5, class: "tone strong" }, `${k}|${k + 1}`));
    }
    const [x0, y0] = at([0, 0]), [x1, y1] = at([0.45 * ux, 0.45 * uy]), side = ([a, b]) => at([0.36 * ux + a, 0.36 * uy + b]).join(",");
    svg.append(shape("line", { x1: x0, y1: y0, x2: x1, y2: y1, class: "line", "stroke-width": 2 }));
    svg.append(shape("polygon", { points: `${x1},${y1} ${side([-0.05 * uy, 0.05 * ux])} ${side([0.05 * uy, -0.05 * ux])}` }));
  }
  problem.examples.forEach(({ x, gold }, i) => {
    const [cx, cy] = at(x), right = learner.predict(x, averaged) === gold;
    if (last && last.example === i) svg.append(shape("circle", { cx, cy, r: 15, class: "ring" }));
    svg.append(shape("circle", { cx, cy, r: 11, class: right ? "tone" : "wrong", "fill-opacity": 0.15 + 0.2 * right }));
    svg.append(shape("text", { x: cx, y: cy + 4.5, "text-anchor": "middle", class: right ? "strong" : "strong wrong" }, String(gold)));
  });
  return [svg, element("p", { class: "quiet" }, "Numbers are the right ranks. Framed points have a wrong prediction. The arrow is the direction; the ring marks the point just visited.")];
}

// ---- sentences and trees: a line for each example ----

function tagPicture(learner, averaged, last) {
  return [listed(learner, last, ({ x, gold }) => {
    const said = learner.predict(x, averaged);
    return [element("div", { class: "words" }, ...x.map((word, t) => (said[t] === gold[t]
      ? element("span", {}, word, element("small", {}, said[t]))
      : element("span", { class: "wrong" }, word, element("small", {}, `${said[t]}, not ${gold[t]}`)))))];
  })];
}

function treePicture(learner, averaged, last) {
  return [listed(learner, last, ({ x, gold }) => [arcs(x.map(([word]) => word), gold, learner.predict(x, averaged))]),
    element("p", { class: "quiet" }, "Arcs above are right, from head to word; those below, dashed, are what the model says in their place.")];
}

function listed(learner, last, drawn) {
  return element("ul", { id: "sentences" }, ...learner.problem.examples.map((example, i) =>
    element("li", last && last.example === i ? { class: "visited", "aria-current": "true" } : {}, ...drawn(example))));
}

function arcs(words, gold, said) {
  const spaces = words.map((word) => 8 * word.length + 26), centres = spaces.map((space, m) => spaces.slice(0, m).reduce((a, b) => a + b, 0) + space / 2);
  const width = spaces.reduce((a, b) => a + b, 0), high = (head, m) => 12 + 11 * Math.abs(head - m);
  const heights = (heads, wanted) => Math.max(0, ...heads.map((head, m) => (wanted(m) ? (head ? high(head, m + 1) : 24) : 0)));
  const base = 8 + heights(gold, () => true), below = heights(said, (m) => said[m] !== gold[m]);
  const height = base + 22 + below + (below ? 8 : 0);
  const wrong = said.filter((head, m) => head !== gold[m]).length;
  const svg = shape("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${words.join(" ")}: ${wrong ? `${wrong} wrong heads` : "right"}` });
  const draw = (head, m, y, way, name) => {
    const x2 = centres[m], group = shape("g", { class: name });
    if (head === 0) group.append(shape("line", { x1: x2, x2, y1: y - way * 24, y2: y, class: `line ${name}`, "stroke-dasharray": way < 0 ? "4 3" : null }));
    else {
      const x1 = centres[head - 1] + (head <= m ? 6 : -6), top = y - way * high(head, m + 1) * 1.25;
      group.append(shape("path", { d: `M${x1},${y} C${x1},${top} ${x2},${top} ${x2},${y - way * 5}`, class: `line ${name}`, style: "fill: none", "stroke-dasharray": way < 0 ? "4 3" : null }));
    }
    group.append(shape("polygon", { points: `${x2 - 3.5},${y - way * 7} ${x2},${y} ${x2 + 3.5},${y - way * 7}` }));
    svg.append(group);
  };
  words.forEach((word, m) => {
    draw(gold[m], m, base, 1, "");
    if (said[m] !== gold[m]) draw(said[m], m, base + 22, -1, "wrong");
    svg.append(shape("text", { x: centres[m], y: base + 15, "text-anchor": "middle", "font-size": 14, class: said[m] === gold[m] ? "" : "wrong strong" }, word));
  });
  return svg;
}

// ---- the cost so far, and the weights ----

function costCurve(costs, width) {
  const height = 110, most = Math.max(4, costs[costs.length - 1]), x = (t) => 30 + (width - 40) * t / Math.max(20, costs.length - 1);
  const y = (cost) => height - 20 - (height - 32) * cost / most;
  const svg = shape("svg", { width, height, role: "img", "aria-label": `cost so far: ${costs[costs.length - 1]} after ${costs.length - 1} visits` });
  svg.append(shape("line", { x1: 30, x2: width - 10, y1: y(0), y2: y(0), class: "line" }), shape("line", { x1: 30, x2: 30, y1: 6, y2: y(0), class: "line" }));
  svg.append(shape("polyline", { points: costs.map((cost, t) => `${x(t)},${y(t ? costs[t - 1] : 0)} ${x(t)},${y(cost)}`).join(" "), class: "boundary", fill: "none" }));
  svg.append(shape("text", { x: 26, y: y(most) + 4, "text-anchor": "end" }, String(most)), shape("text", { x: 26, y: y(0) + 4, "text-anchor": "end" }, "0"));
  svg.append(shape("text", { x: Math.max(75, x(costs.length - 1)), y: height - 4, "text-anchor": "end" }, `${costs.length - 1} visit${costs.length === 2 ? "" : "s"}`));
  return svg;
}

function weightRows(weights, change) {
  const sizes = [...weights.values()].map(Math.abs).sort((a, b) => b - a), largest = sizes[0] || 1, least = sizes[BARS - 1] ?? 0;
  const rows = [...weights].filter(([, value]) => Math.abs(value) >= least).slice(0, BARS); // in the order in which they were learned
  return rows.map(([name, value]) => {
    const bar = element("div", { class: "bar" }), share = 50 * Math.abs(value) / largest;
    bar.style.backgroundSize = `${share}% 100%`;
    bar.style.backgroundPosition = `${100 * (value < 0 ? 50 - share : 50) / (100 - share)}% 0`;
    return element("tr", change.has(name) ? { class: "moved" } : {}, element("td", { class: "name" }, name), element("td", {}, bar),
      element("td", { class: "number" }, short(value)));
  });
}
