// The controls of the page, and what is shown after each visit.
"use strict";

const PICTURES = { ranks: rankPicture, tags: tagPicture, tree: treePicture };
const PAUSES = [2000, 1000, 500, 250, 120, 50, 16]; // milliseconds between visits, by speed
const byId = (id) => document.getElementById(id);

let learner = null, last = null, timer = null;

function begin() {
  pause();
  const C = Number(byId("size").value);
  learner = new Learner(PROBLEMS[byId("problem").value], byId("rule").value, C > 0 ? C : 1);
  last = null;
  byId("size").parentElement.hidden = !RULES[learner.rule].usesC;
  show();
}

function visit() {
  if (learner.status === "learning") last = learner.step();
  if (learner.status !== "learning") pause();
  show();
}

function run() {
  byId("run").setAttribute("aria-pressed", "true");
  byId("run").textContent = "Pause";
  byId("status").setAttribute("aria-live", "off"); // nobody can listen so fast
  const next = () => {
    timer = setTimeout(next, PAUSES[byId("speed").value]);
    visit();
  };
  timer = setTimeout(next, 0);
}

function pause() {
  clearTimeout(timer);
  timer = null;
  byId("run").setAttribute("aria-pressed", "false");
  byId("run").textContent = "Run";
  byId("status").setAttribute("aria-live", "polite");
}

function show() {
  const { problem } = learner, averaged = byId("averaged").checked, converged = learner.status === "converged";
  byId("about").textContent = problem.about;
  byId("status").textContent = said(problem, converged);
  byId("step").disabled = byId("run").disabled = byId("epoch").disabled = converged;
  byId("picture").replaceChildren(...PICTURES[byId("problem").value](learner, averaged, last, widthOf("picture")));
  const wrong = problem.examples.filter(({ x, gold }) => problem.loss(gold, learner.predict(x, averaged)) > 0).length;
  byId("counts").replaceChildren(...Object.entries({
    visits: learner.visits, epoch: learner.epoch, mistakes: learner.mistakes, cost: learner.cost, "wrong now": `${wrong} of ${problem.examples.length}`,
  }).map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, String(value)))));
  byId("curve").replaceChildren(costCurve(learner.costs, widthOf("curve")));
  byId("promise").textContent = `The cost is the sum of all losses. It can never exceed ${Math.floor(learner.bound)}, however long this runs: `
    + `the bound proved for ${learner.rule}, in any order of these examples.`;
  const weights = learner.weights(averaged), change = last?.change ?? new Map();
  byId("weights").querySelector("tbody").replaceChildren(...weightRows(weights, change));
  byId("more").textContent = weights.size > BARS ? `and ${weights.size - BARS} smaller ones` : weights.size ? "" : "All weights are 0: nothing was learned yet.";
}

function widthOf(id) {
  return Math.max(240, byId(id).clientWidth);
}

function said(problem, converged) {
  if (!last) return "All weights are 0. Press Step to visit the first example, or Run.";
  const { example, x = problem.examples[example].x, gold, right, change } = { ...last };
  const text = Array.isArray(gold) ? `“${x.map((word) => (Array.isArray(word) ? word[0] : word)).join(" ")}”` : `the point (${x.map(short).join(", ")})`;
  const answer = Array.isArray(gold) ? "" : ` The prediction was ${last.said}, and ${gold} is right.`;
  const step = change.size ? `A step moved ${change.size} weights.` : "No step.";
  const end = converged ? " A whole epoch made no step: training has ended." : "";
  return `Visit ${learner.visits}: ${text}. ${right ? "Right." : `Wrong, at a cost of ${last.loss}.`}${right ? "" : answer} ${step}${end}`;
}

function offerRules() {
  const kept = byId("rule").value, { rules } = PROBLEMS[byId("problem").value];
  byId("rule").replaceChildren(...rules.map((rule) => new Option(rule, rule)));
  if (rules.includes(kept)) byId("rule").value = kept;
}

for (const [name, { title }] of Object.entries(PROBLEMS)) byId("problem").append(new Option(title, name));
if (location.hash.slice(1) in PROBLEMS) byId("problem").value = location.hash.slice(1); // watch.html#tree
offerRules();
if (matchMedia("(prefers-reduced-motion: reduce)").matches) byId("speed").value = 0;
byId("problem").addEventListener("change", () => { offerRules(); begin(); });
for (const id of ["rule", "size"]) byId(id).addEventListener("change", begin);
byId("averaged").addEventListener("change", show);
byId("step").addEventListener("click", () => { pause(); visit(); });
byId("run").addEventListener("click", () => (timer === null ? run() : pause()));
byId("epoch").addEventListener("click", () => {
  pause();
  do visit(); while (learner.status === "learning" && learner.next !== 0);
});
byId("reset").addEventListener("click", begin);
byId("controls").addEventListener("submit", (event) => event.preventDefault());
window.addEventListener("resize", show);
begin();
