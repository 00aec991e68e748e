/* A button for light or dark: the system's choice, until it is pressed. */
function themeButton() {
  const button = Object.assign(document.createElement("button"),
    {type: "button", className: "theme", title: "Light or dark", ariaLabel: "Light or dark", textContent: "\u25d0"});
  button.addEventListener("click", () => {
    const {dataset} = document.documentElement;
    const theme = dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    dataset.theme = theme === "dark" ? "light" : "dark";
  });
  return button;
}
