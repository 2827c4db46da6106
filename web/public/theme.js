// The colours are chosen before anything is painted, so that nobody who likes it dark sees a white flash.
(function () {
  var chosen = "auto";
  try {
    chosen = localStorage.getItem("portal-colors") || "auto";
  } catch (e) {
    // No storage, no choice to remember.
  }
  var dark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.setAttribute("data-mantine-color-scheme", dark ? "dark" : "light");
})();
