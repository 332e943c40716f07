function onSubmit(form, card, work) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    orTrouble(card, work);
  });
}

function bindImage() {
  $("source-form").addEventListener("submit", (event) => { event.preventDefault(); orTrouble($("trouble"), () => takeAddress($("url").value)); });
  $("controls").addEventListener("submit", (event) => event.preventDefault());
  $("reset").addEventListener("click", () => { state = { ...PLAIN, view: state.view, tab: state.tab, url: state.url }; update({ w: "640" }); });
  $("again").addEventListener("click", () => refresh(true));
  $("address").addEventListener("focus", () => $("address").select());
  $("address-copy").addEventListener("click", async () => { await copyText($("address").value); say("URL copied"); });
  $("split").addEventListener("input", moveSplit);
  $("crop-none").addEventListener("click", () => update({ crop: "", tool: "compare" }));
  $("editor").addEventListener("pointerdown", startDrag);
  $("editor").addEventListener("pointermove", (event) => drag?.(pointOf(event)));
  for (const end of ["pointerup", "pointercancel"]) $("editor").addEventListener(end, () => { drag = null; });
  $("marker").addEventListener("keydown", nudgeMarker);
  $("cropbox").addEventListener("keydown", nudgeCrop);
  for (const tab of all("[role=tab]")) {
    tab.addEventListener("click", () => { update({ tab: tab.dataset.tab }); refreshPanel(); });
    tab.addEventListener("keydown", takeTab);
  }
}

function bindAdministration() {
  for (const link of all("nav [data-view]"))
    link.addEventListener("click", (event) => { event.preventDefault(); update({ view: link.dataset.view }); enterView(); });
  $("gate").addEventListener("submit", (event) => {
    event.preventDefault();
    token.store($("token").value.trim());
    $("token").value = "";
    openView();
    // Requests that failed without the token may succeed now.
    if (!shown.result) { refresh(true); findSamples(); }
  });
  $("sign-out").addEventListener("click", () => { token.remove(); showGate(); });
  $("tiers-again").addEventListener("click", openView);
  $("purge").addEventListener("input", renderPurge);
  onSubmit($("purge"), $("purge-trouble"), tryPurge);
  $("purge-do").addEventListener("click", () => orTrouble($("purge-trouble"), doPurge));
  onSubmit($("entries"), $("entries-trouble"), lookUpEntries);
  $("prefetch").addEventListener("input", countPrefetch);
  onSubmit($("prefetch"), $("prefetch-trouble"), startPrefetch);
  $("job-cancel").addEventListener("click", () => orTrouble($("prefetch-trouble"), cancelJob));
  $("jobs-again").addEventListener("click", openView);
}

/** Fills the forms of the other views with the current source. */
function enterView() {
  for (const id of ["purge-value", "entries-url", "prefetch-urls"]) if (!$(id).value) $(id).value = state.url ?? "";
  renderPurge();
  countPrefetch();
  openView();
}

function restore() {
  state = withHeight(readAddress());
  render();
  enterView();
  if (state.view === "image") refresh();
}

function start() {
  buildControls();
  bindControls();
  bindImage();
  bindAdministration();
  moveSplit();
  addEventListener("popstate", restore);
  state = location.hash.length > 1 ? withHeight(readAddress()) : { ...PLAIN, w: "640" };
  render();
  enterView();
  showTab();
  refresh();
  findSamples();
}

start();
