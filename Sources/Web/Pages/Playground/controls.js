function bindControls() {
  for (const control of all("[data-parameter]:not(#url)"))
    control.addEventListener("input", () => update({ [control.dataset.parameter]: reading(control) }));
  for (const picker of all("[data-color]"))
    picker.addEventListener("input", () => update({ [picker.dataset.color]: picker.value.slice(1) }));
  $("quality-auto").addEventListener("change", () => update({ q: $("quality-auto").checked ? "auto" : "" }));
  for (const radio of all("#controls input[type=radio]"))
    radio.addEventListener("change", () => update({ [radio.name]: radio.value }));
  for (const radio of all("#tools input")) radio.addEventListener("change", () => takeTool(radio.value));
  for (const number of all("[data-crop]"))
    number.addEventListener("input", () => {
      const crop = readCrop() ?? { x: 0, y: 0, ...sourceSize() };
      if (number.value !== "") setCrop({ ...crop, [number.dataset.crop]: Number(number.value) });
    });
}

function reading(control) {
  if (control.type === "checkbox") return control.checked ? "true" : "";
  if (control.type === "range" && control.dataset.rest === control.value && control.id !== "quality") return "";
  return control.value.trim();
}

/** Updates every control from the state. */
function render() {
  for (const page of all("[data-page]")) page.hidden = page.dataset.page !== state.view;
  for (const link of all("nav [data-view]")) {
    if (link.dataset.view === state.view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  $("gate").hidden = state.view === "image";
  showGate();
  $("width").max = Math.max(64, sourceSize().width || SCREEN);
  for (const picker of all("[data-color]")) picker.value = hexOf(state[picker.dataset.color]);
  for (const control of all("[data-parameter]")) renderControl(control);
  for (const control of all("#more [data-parameter], #more [data-color]"))
    control.disabled = !hasEffect(control.dataset.parameter ?? control.dataset.color, state);
  for (const radio of all("#controls input[type=radio], #tools input")) radio.checked = isChosen(radio);
  renderDependants();
  renderSamples();
  showTool();
}

for (const choice of all("[name=output]")) if (!writes(choice.value)) choice.closest("label").remove();

/** A ratio of one's own is none of the shapes. */
const isChosen = ({ name, value }) => (state[name] || STANDARD[name]) === value && !(name === "shape" && state.ar && state.ar !== value);

function renderControl(control) {
  const value = state[control.dataset.parameter] ?? "";
  if (control.type === "checkbox") control.checked = value === "true";
  else if (control.type === "range") control.value = control.id === "width" ? pixels(value, sourceSize().width) || control.max : value || control.dataset.rest;
  else if (control !== document.activeElement || control.value.trim() !== value) control.value = value || (control.id === "a" ? "center" : "");
}

function renderDependants() {
  $("quality-auto").checked = state.q === "auto";
  for (const control of all("[data-parameter=q]")) control.disabled = ["png", "tiff"].includes(state.output) || state.q === "auto";
  $("place").hidden = !hasEffect("a", state);
  $("focal-numbers").hidden = state.a !== "focal";
  const crop = readCrop();
  $("crop-numbers").hidden = !crop && state.tool !== "crop";
  for (const number of all("[data-crop]")) if (number !== document.activeElement) number.value = crop?.[number.dataset.crop] ?? "";
  for (const group of all("#more details")) {
    const names = all("[data-parameter]", group).map((control) => control.dataset.parameter);
    const changed = new Set(names.filter((name) => state[name])).size;
    group.querySelector(".changed").textContent = changed ? `${changed} set` : "";
  }
}

/** A color as the picker needs it. The canvas knows the names of colors. */
function hexOf(value) {
  const context = hexOf.context ??= el("canvas").getContext("2d");
  context.fillStyle = "#ffffff";
  context.fillStyle = /^[0-9a-f]{3,8}$/i.test(value ?? "") ? `#${value}` : value ?? "";
  const [, ...parts] = context.fillStyle.match(/^rgba\((\d+), (\d+), (\d+)/) ?? [];
  return parts.length ? `#${parts.map((part) => Number(part).toString(16).padStart(2, "0")).join("")}` : context.fillStyle;
}

function takeSource(url, more = {}) {
  update({ ...more, url: url.trim(), crop: "", tool: "compare", page: "", n: "", ...(state.a === "focal" ? { a: "center" } : {}) });
}
