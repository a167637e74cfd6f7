// The picture of a memory's neighbourhood. Everything else on the page works without scripts.
(() => {
  "use strict";
  const place = document.getElementById("picture");
  if (!place || typeof cytoscape !== "function") return;
  document.getElementById("frame").hidden = false;

  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  const style = () => {
    const named = getComputedStyle(document.documentElement);
    const colour = (name) => named.getPropertyValue(`--${name}`).trim();
    return [
      { selector: "node", style: {
        "background-color": colour("node-current"), "border-color": colour("node-current-line"), "border-width": 3,
        "width": 34, "height": 34, "label": "data(title)", "color": colour("ink"), "font-size": 14, "font-family": named.getPropertyValue("--sans"),
        "text-wrap": "wrap", "text-max-width": 142, "text-valign": "bottom", "text-margin-y": 6, "line-height": 1.25,
        "text-background-color": colour("sheet"), "text-background-opacity": 0.85, "text-background-padding": 2 } },
      { selector: "node.superseded", style: {
        "background-color": colour("node-superseded"), "border-color": colour("node-superseded-line"), "border-width": 1.5,
        "border-style": "dashed", "width": 28, "height": 28, "color": colour("node-superseded-text") } },
      { selector: "node.entity", style: {
        "shape": "round-rectangle", "background-color": colour("node-entity"), "border-color": colour("node-entity-line"),
        "border-width": 1.5, "width": 24, "height": 24 } },
      { selector: "node.me", style: {
        "width": 46, "height": 46, "font-weight": "bold", "outline-width": 4, "outline-color": colour("accent"),
        "outline-offset": 3, "outline-opacity": 0.75 } },
      { selector: "node:selected", style: { "overlay-opacity": 0 } },
      { selector: "edge", style: {
        "width": 1.5, "line-color": colour("edge"), "target-arrow-color": colour("edge"), "target-arrow-shape": "triangle",
        "arrow-scale": 0.8, "curve-style": "straight", "label": "data(relation)", "font-size": 11, "color": colour("soft"),
        "text-background-color": colour("sheet"), "text-background-opacity": 0.85, "text-background-padding": 2, "min-zoomed-font-size": 7 } },
      { selector: "edge.supersedes", style: {
        "width": 4, "line-color": colour("edge-supersedes"), "target-arrow-color": colour("edge-supersedes"),
        "arrow-scale": 1.1, "label": "" } },
    ];
  };
  const graph = JSON.parse(place.dataset.graph);
  const fine = window.matchMedia("(pointer: fine)").matches;
  const cy = cytoscape({
    container: place, elements: graph, style: style(), layout: { name: "preset", fit: true, padding: 36 },
    minZoom: 0.15, maxZoom: 2.5, userZoomingEnabled: false, userPanningEnabled: fine, boxSelectionEnabled: false,
    autoungrabify: true,
  });
  const fit = () => {
    cy.fit(undefined, 36);
    if (cy.zoom() > 1.15) { cy.zoom(1.15); cy.center(); }
  };
  const closer = (times) => {
    const level = Math.min(Math.max(cy.zoom() * times, cy.minZoom()), cy.maxZoom());
    const zoom = { level, position: cy.nodes(".me").position() };
    still ? cy.zoom(zoom) : cy.animate({ zoom }, { duration: 160 });
  };
  fit();
  if (cy.zoom() < 0.45) { cy.zoom(0.6); cy.center(cy.nodes(".me")); }
  cy.on("tap", "node", (event) => { window.location.assign(event.target.data("url")); });
  cy.on("mouseover", "node", () => { place.style.cursor = "pointer"; });
  cy.on("mouseout", "node", () => { place.style.cursor = ""; });
  document.getElementById("nearer").addEventListener("click", () => closer(1.35));
  document.getElementById("farther").addEventListener("click", () => closer(1 / 1.35));
  document.getElementById("all").addEventListener("click", fit);
  dark.addEventListener("change", () => cy.style(style()));
  place.dataset.drawn = String(cy.nodes().length);
})();
