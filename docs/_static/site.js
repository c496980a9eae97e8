// The theme's toggles in the navigation have no text; screen readers get a label from the page above.
document.addEventListener("DOMContentLoaded", () => {
  for (const toggle of document.querySelectorAll("summary:has(> .toctree-toggle)"))
    toggle.setAttribute("aria-label", `pages below ${toggle.closest("li").querySelector("a").textContent.trim()}`);
});

// Tables that scroll sideways are reached by the Tab key, and then scrolled by the arrows.
function reach() {
  for (const table of document.querySelectorAll(".bd-article table"))
    if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
    else table.removeAttribute("tabindex");
}
addEventListener("load", reach);
addEventListener("resize", reach);
