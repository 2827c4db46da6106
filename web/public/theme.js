// Set the color scheme before the first paint to avoid a white flash in dark mode.
(function () {
  var chosen = "auto";
  try {
    chosen = localStorage.getItem("portal-colors") || "auto";
  } catch (e) {
    // Without storage there is no saved choice.
  }
  var dark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.setAttribute("data-mantine-color-scheme", dark ? "dark" : "light");
})();
