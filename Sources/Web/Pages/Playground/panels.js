const panelShown = new Map();

function showTab() {
  for (const tab of all("[role=tab]")) {
    const isChosen = tab.dataset.tab === state.tab;
    tab.setAttribute("aria-selected", String(isChosen));
    tab.tabIndex = isChosen ? 0 : -1;
    $(`panel-${tab.dataset.tab}`).hidden = !isChosen;
  }
}

function takeTab(event) {
  const tabs = all("[role=tab]");
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const next = tabs[(tabs.indexOf(event.target) + step + tabs.length) % tabs.length];
  next.focus();
  next.click();
}

/** Fills the selected panel, unless it already shows the current image. */
async function refreshPanel(isAgain = false) {
  showTab();
  if (!state.url || !shown.result) return;
  const make = { code: codePanel, formats: formatsPanel, placeholders: placeholderPanel, explain: explainPanel, info: infoPanel }[state.tab];
  const about = `${query(state)} ${state.tab === "explain" ? shown.result?.fields.get("X-Request-Id") : ""}`;
  if (!make || panelShown.get(state.tab) === about && !isAgain) return;
  const panel = $(`panel-${state.tab}`);
  const signal = newest("panel");
  const card = el("div", { className: "trouble", id: `${panel.id}-trouble`, role: "alert", hidden: true });
  $("panels").setAttribute("aria-busy", "true");
  const parts = await orTrouble(card, () => make(signal));
  if (signal.aborted) return;
  $("panels").setAttribute("aria-busy", "false");
  panelShown.set(state.tab, parts ? about : "");
  panel.replaceChildren(...(parts ?? [card]));
}
