// A trained model as a form. `model` is the exported script, `about` says what its inputs are.
"use strict";

// ---- from what is given to an answer; without a page, for tests and other scripts ----

// The row x of numbers for one text per input. An empty text is a missing cell.
function encode(texts) {
  const x = [];
  about.inputs.forEach((input, j) => {
    const text = String(texts[j] ?? "").trim();
    const missing = text === "";
    if (missing && input.fill === null) throw new RangeError(`${input.name} is missing.`);
    const value = missing ? input.fill : valueOf(input, text);
    if (input.kind === "one_hot") input.levels.forEach((_, k) => x.push(value === k ? 1 : 0));
    else x.push(value);
    if (input.indicated) x.push(missing ? 1 : 0);
  });
  return x;
}

// A text as a number: of dates the days since the earliest one that training saw, of levels their place; -1 of an unknown level.
function valueOf(input, text) {
  if (input.kind === "number") {
    if (!Number.isFinite(Number(text))) throw new RangeError(`${input.name} is ${text}; expected a number.`);
    return Number(text);
  }
  if (input.kind === "date") {
    const day = Date.parse(text) / 86400000;
    if (!Number.isFinite(day)) throw new RangeError(`${input.name} is ${text}; expected a date such as 2024-12-31.`);
    return day - input.origin;
  }
  const place = input.levels.indexOf(text);
  if (place < 0 && input.kind === "ordinal") throw new RangeError(`${input.name} is ${text}; expected one of ${input.levels.join(", ")}.`);
  return place;
}

// Places of labels, best first; equals as the model's tie rule has them.
function ranking(scores) {
  const towards = about.last ? -1 : 1;
  return scores.map((_, l) => l).sort((a, b) => scores[b] - scores[a] || towards * (a - b));
}

// How far the label at place `winner` leads that at `rival`, and what each feature adds to the lead against the means of training, largest
// first. The features of one input with levels are one part, called as the one that the row has.
function explain(x, winner, rival) {
  const scores = model.scores(x);
  const weights = model.weights[winner].map((weight, j) => weight - model.weights[rival][j]);
  const values = weights.map((weight, j) => weight * (x[j] - about.means[j]));
  const parts = [];
  let j = 0;
  for (const input of about.inputs) {
    if (input.kind === "one_hot") {
      const n = input.levels.length, level = x.slice(j, j + n).indexOf(1);
      parts.push({ name: level < 0 ? input.name : about.features[j + level], value: values.slice(j, j + n).reduce((a, b) => a + b, 0) });
      j += n;
    } else parts.push({ name: about.features[j], value: values[j++] });
    if (input.indicated) parts.push({ name: about.features[j], value: values[j++] });
  }
  const constant = weights.reduce((sum, weight, j) => sum + weight * about.means[j], model.bias[winner] - model.bias[rival]);
  const rest = { name: "(constant)", value: constant };
  parts.push(rest);
  return { margin: scores[winner] - scores[rival], rest, parts: parts.filter((part) => part.value).sort((a, b) => Math.abs(b.value) - Math.abs(a.value)) };
}

// The way from the score of the means to that of x, of labels that thresholds cut along one direction: where it begins, where it ends, and
// what each feature adds. The score is the mean over all boundaries, as the ruler has it.
function way(x) {
  const last = model.labels.length - 1, { margin, rest, parts } = explain(x, last, 0);
  const features = parts.filter((part) => part !== rest).map(({ name, value }) => ({ name, value: value / last }));
  return { start: rest.value / last, score: margin / last, parts: features };
}

// The smallest changes of one input that change the answer while all other inputs stay: the nearest number or day below and above, or each
// such level. Scores are linear in a number, so the first label to overtake the winner does so where their scores are equal.
function turns(texts, j) {
  const input = about.inputs[j], x = encode(texts), scores = model.scores(x), [winner] = ranking(scores), found = [];
  const encoded = (text) => encode(Object.assign([...texts], { [j]: text }));
  const look = (text) => {
    const [label] = ranking(model.scores(encoded(text)));
    if (label !== winner) found.push({ text, label });
    return label !== winner;
  };
  if (input.levels.length) {
    input.levels.forEach(look);
    return found;
  }
  if (String(texts[j] ?? "").trim() === "") return found;
  const value = valueOf(input, texts[j]), at = encoded(textOf(input, value + 1)).findIndex((other, k) => other !== x[k]);
  const steps = scores.map((score, l) => (scores[winner] - score) / (model.weights[l][at] - model.weights[winner][at]));
  for (const side of [-1, 1]) {
    const step = side * Math.min(...steps.map((one, l) => (l !== winner && one * side >= 0 ? Math.abs(one) : Infinity)));
    if (Number.isFinite(step)) near(input, value, step).some((end) => look(textOf(input, end)));
  }
  return found;
}

// Values at a crossing, the one with the fewest digits first, all within a hundredth of the step; whole days of dates.
function near(input, value, step) {
  const end = value + step, side = Math.sign(step) || 1, far = end + side * 1e-9 * Math.max(Math.abs(end), Math.abs(step));
  if (input.kind === "date") return [0, 1].map((more) => side * (Math.ceil(side * end - 1e-9) + more));
  const rounded = Array.from({ length: 15 }, (_, k) => Number(end.toPrecision(k + 2)));
  return [...rounded.filter((one) => Math.abs(one - end) <= 0.01 * Math.abs(step)), far];
}

// A value as the control of an input has it.
function textOf(input, value) {
  return input.kind === "date" ? new Date((input.origin + value) * 86400000).toISOString().slice(0, 10) : String(value);
}

// Where the score lies among the boundaries above the labels but the last.
function ruler(scores) {
  const steps = scores.slice(1).map((score, l) => score - scores[l]);
  const score = steps.reduce((a, b) => a + b, 0) / steps.length;
  return { score, cuts: steps.map((step) => score - step) };
}

// ---- the page ----

const BARS = 12; // features that are drawn
const TURNS = 3; // changes of an input that are shown
const ROUNDING = 1e-9; // smaller parts are none

function start() {
  const byId = (id) => document.getElementById(id);
  const fields = byId("fields");
  const controls = about.inputs.map((input, j) => {
    const label = added(fields, "label", input.name);
    const control = controlOf(input);
    control.id = `input-${j}`;
    added(label, "small", input.hint, "hint");
    label.append(control);
    added(label, "small", "", "turns");
    return control;
  });
  byId("description").textContent = about.description;
  const rival = byId("rival");
  rival.append(new Option(about.one_direction ? "any other" : "the next best", ""));
  model.labels.forEach((label, l) => rival.append(new Option(String(label), String(l))));

  function show() {
    const output = byId("answer").querySelector("output");
    let x = null;
    try {
      x = encode(controls.map((control) => control.value));
      byId("message").textContent = "";
    } catch (error) {
      output.textContent = "—";
      byId("message").textContent = error.message;
    }
    byId("why").hidden = byId("labels").hidden = x === null;
    const texts = controls.map((control) => control.value);
    controls.forEach((control, j) => {
      const changes = x === null ? [] : turns(texts, j).map(({ text, label }) => `${text}: ${clipped(model.labels[label])}`);
      control.nextSibling.textContent = changes.slice(0, TURNS).join(", ") + (changes.length > TURNS ? ", …" : "");
    });
    if (x !== null) answer(x, output);
  }

  function answer(x, output) {
    const scores = model.scores(x), probabilities = model.probabilities(x), order = ranking(scores), [winner] = order;
    const scored = column(scores);
    if (output.textContent !== String(model.labels[winner])) output.textContent = String(model.labels[winner]);
    fill(byId("labels").querySelector("tbody"), about.ordered ? model.labels.map((_, l) => l) : order, (row, l) => {
      added(row, "td", model.labels[l], l === winner ? "winner" : undefined);
      added(row, "td", scored(scores[l]), "number");
      added(added(row, "td"), "div", "", "bar").style.backgroundSize = `${100 * probabilities[l]}% 100%`;
      added(row, "td", `${(100 * probabilities[l]).toFixed(1)} %`, "number");
    });
    const against = rival.value === "" || Number(rival.value) === winner ? order[1] : Number(rival.value);
    const whole = about.one_direction && rival.value === "" ? way(x) : null;
    const { margin, parts: split } = explain(x, winner, against), all = whole ? whole.parts : split;
    const parts = all.filter((part) => Math.abs(part.value) > ROUNDING * Math.max(Math.abs(margin), Math.abs(all[0].value)));
    const [left, right] = whole ? ["lower", "higher"] : [model.labels[against], model.labels[winner]];
    byId("margin").textContent = whole
      ? `Score ${short(whole.score)}, from ${short(whole.start)} at the mean of the training rows.`
      : `Margin of ${model.labels[winner]} over ${model.labels[against]}: ${short(margin)}.`;
    byId("sides").children[0].textContent = `← ${clipped(left)}`;
    byId("sides").children[1].textContent = `${clipped(right)} →`;
    const drawn = parts.slice(0, BARS), rest = parts.slice(BARS);
    if (rest.length) drawn.push({ name: `${rest.length} others`, value: rest.reduce((sum, part) => sum + part.value, 0) });
    const largest = Math.max(...drawn.map((part) => Math.abs(part.value))), written = column(drawn.map((part) => part.value));
    fill(byId("why").querySelector("tbody"), drawn, (row, part) => {
      added(row, "td", part.name, "name");
      const bar = added(added(row, "td"), "div", "", "bar"), share = 50 * Math.abs(part.value) / largest;
      bar.style.backgroundSize = `${share}% 100%`;
      bar.style.backgroundPosition = `${100 * (part.value < 0 ? 50 - share : 50) / (100 - share)}% 0`;
      added(row, "td", signed(written(part.value)), "number");
    });
    byId("ruler").replaceChildren(...(about.ordered ? [drawnRuler(ruler(scores), winner, against, whole ? [whole.start] : [])] : []));
  }

  function drawnRuler({ score, cuts }, winner, against, starts) {
    const width = Math.max(280, byId("why").clientWidth - 32), base = 48;
    const low = Math.min(score, ...cuts, ...starts), high = Math.max(score, ...cuts, ...starts), room = 0.18 * (high - low) || 1;
    const at = (value) => 4 + (width - 8) * (value - low + room) / (high - low + 2 * room);
    const ends = [at(low - room), ...cuts.map(at), at(high + room)];
    const svg = shape(null, "svg", { width, role: "img", "aria-label": `score ${short(score)}, among thresholds ${cuts.map(short).join(", ")}` });
    for (const [place, strength] of [[against, 0.2], [winner, 0.5]])
      if (ends[place] < ends[place + 1])
        shape(svg, "rect", { x: ends[place], y: base - 12, width: ends[place + 1] - ends[place], height: 24, class: "tone", "fill-opacity": strength });
    shape(svg, "line", { x1: ends[0], x2: ends[ends.length - 1], y1: base, y2: base, class: "line" });
    const rows = [];                     // where the texts of each row end
    cuts.map((cut, l) => [at(cut), `${clipped(model.labels[l])} | ${clipped(model.labels[l + 1])}`]).sort((a, b) => a[0] - b[0])
      .forEach(([x, text]) => {
        const half = 3.5 * text.length, middle = Math.min(Math.max(x, half), width - half);
        let row = 0;
        while (rows[row] > middle - half) row++;
        rows[row] = middle + half + 6;
        shape(svg, "line", { x1: x, x2: x, y1: base - 12, y2: base + 14 + 15 * row, class: "line" });
        shape(svg, "text", { x: middle, y: base + 27 + 15 * row, "text-anchor": "middle" }, text);
      });
    for (const start of starts) {
      shape(svg, "line", { x1: at(start), x2: at(start), y1: base - 8, y2: base + 8, class: "line", "stroke-width": 2 });
      shape(svg, "line", { x1: at(start), x2: at(score), y1: base, y2: base, class: "line", "stroke-width": 4 });
    }
    const x = at(score), text = `score ${short(score)}`, half = 4 * text.length;
    shape(svg, "line", { x1: x, x2: x, y1: base - 24, y2: base, class: "line", "stroke-width": 2 });
    shape(svg, "circle", { cx: x, cy: base, r: 4 });
    shape(svg, "text", { x: Math.min(Math.max(x, half), width - half), y: base - 30, "text-anchor": "middle", class: "strong" }, text);
    svg.setAttribute("height", base + 36 + 15 * Math.max(0, rows.length - 1));
    return svg;
  }

  byId("paste").addEventListener("submit", (event) => {
    event.preventDefault();
    const texts = byId("pasted").value.split(/[\t,;]/);
    if (texts.length !== controls.length) {
      byId("message").textContent = `The row has ${texts.length} values; expected ${controls.length}.`;
      return;
    }
    controls.forEach((control, j) => { control.value = texts[j].trim(); });
    show();
  });
  fields.addEventListener("input", show);
  fields.addEventListener("submit", (event) => event.preventDefault());
  rival.addEventListener("change", show);
  window.addEventListener("resize", show);
  show();
}

// The control of an input, at its usual value.
function controlOf(input) {
  if (input.levels.length) {
    const control = document.createElement("select");
    if (input.fill !== null) control.append(new Option("(missing)", ""));
    for (const level of input.levels) control.append(new Option(level, level));
    if (input.kind === "one_hot") control.append(new Option("(another)", "\u0000"));
    control.value = input.start;
    return control;
  }
  const control = document.createElement("input");
  control.type = input.kind;
  if (input.kind === "number") control.step = "any";
  control.value = input.start;
  return control;
}

function added(parent, tag, text = "", name = "") {
  const element = document.createElement(tag);
  element.textContent = text;
  if (name) element.className = name;
  parent.append(element);
  return element;
}

function fill(body, items, write) {
  body.replaceChildren();
  for (const item of items) write(added(body, "tr"), item);
}

function shape(parent, tag, attributes, text = "") {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  if (parent) parent.append(element);
  return element;
}

const short = (value) => String(Number(value.toPrecision(4))).replace("-", "−");
// Writes the numbers of a column with as many decimals as give the largest three digits.
function column(values) {
  const largest = Math.max(...values.map(Math.abs)) || 1, decimals = Math.min(9, Math.max(0, 2 - Math.floor(Math.log10(largest))));
  return (value) => (Number(value.toFixed(decimals)) === 0 ? (0).toFixed(decimals) : value.toFixed(decimals)).replace("-", "−");
}
const signed = (text) => (/^−|^[0.]*$/.test(text) ? "" : "+") + text;
const clipped = (label) => (String(label).length > 16 ? `${String(label).slice(0, 15)}…` : String(label));

if (typeof document !== "undefined") start();
if (typeof module !== "undefined") module.exports = { encode, ranking, explain, way, ruler, turns };
