// The theme's toggles in the navigation have no text; screen readers get a label from the page above.
document.addEventListener("DOMContentLoaded", () => {
  for (const toggle of document.querySelectorAll("summary:has(> .toctree-toggle)"))
    toggle.setAttribute("aria-label", `pages below ${toggle.closest("li").querySelector("a").textContent.trim()}`);
});
