// The theme's toggles in the navigation have no text; screen readers get a label from the page above.
document.addEventListener("DOMContentLoaded", () => {
  for (const toggle of document.querySelectorAll("summary:has(> .toctree-toggle)"))
    toggle.setAttribute("aria-label", `pages below ${toggle.closest("li").querySelector("a").textContent.trim()}`);
});

// Tables that scroll sideways are reached by the Tab key, and then scrolled by the arrows. The class "more" marks those with more to the right.
function reach() {
  for (const table of document.querySelectorAll(".bd-article table")) {
    const more = () => table.classList.toggle("more", table.scrollLeft + table.clientWidth < table.scrollWidth - 1);
    if (table.scrollWidth > table.clientWidth + 1) table.tabIndex = 0;
    else table.removeAttribute("tabindex");
    table.onscroll = more;
    more();
  }
}
addEventListener("load", reach);
addEventListener("resize", reach);
