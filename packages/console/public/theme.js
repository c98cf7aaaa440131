// Applies the chosen theme before the first paint. A file of its own, because the policy of the page allows no inline script.
const theme = localStorage.getItem("theme")
if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme
