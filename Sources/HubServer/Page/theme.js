// The colours that were chosen in this browser. They are set before anything is drawn, so this is no module.
{
  const root = document.documentElement;
  const chosen = localStorage.getItem("hub.theme") ?? "auto";
  root.dataset.theme = chosen;
  document.addEventListener("DOMContentLoaded", () => {
    const select = document.getElementById("theme");
    select.value = chosen;
    select.addEventListener("change", () => {
      root.dataset.theme = select.value;
      localStorage.setItem("hub.theme", select.value);
    });
  });
}
