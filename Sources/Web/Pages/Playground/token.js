const token = {
  name: "darkroom-admin-token",
  read: () => sessionStorage.getItem(token.name) ?? "",
  store: (value) => sessionStorage.setItem(token.name, value),
  remove: () => sessionStorage.removeItem(token.name),
};

/** Whether the server refuses this page's URLs, which are not signed. */
const needsToken = () => SERVER.needsSignature && !token.read();

function showGate() {
  const isOpen = Boolean(token.read());
  $("unsigned").hidden = !needsToken();
  $("gate-open").hidden = isOpen;
  $("gate-closed").hidden = !isOpen;
  for (const page of all("[data-page=cache], [data-page=prefetch]")) page.hidden = page.dataset.page !== state.view || !isOpen;
}

/** Opens the view, or shows why it is not available. */
async function openView() {
  showGate();
  if (state.view === "image" || !token.read()) return;
  await orTrouble($("gate-trouble"), async () => {
    try {
      await (state.view === "cache" ? showTiers() : showJobs());
    } catch (error) {
      if ([401, 403].includes(error.status)) token.remove();
      throw error;
    }
  });
  showGate();
}
