// The theme's toggles in the navigation have no text: who hears the page is told what they open.
document.addEventListener("DOMContentLoaded", () => {
  for (const toggle of document.querySelectorAll("summary:has(> .toctree-toggle)"))
    toggle.setAttribute("aria-label", `pages below ${toggle.closest("li").querySelector("a").textContent.trim()}`);
});
