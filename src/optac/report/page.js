(() => {
  "use strict";
  const root = document.documentElement;
  root.classList.add("has-script");
  const panels = JSON.parse(document.getElementById("panels").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const off = new Set();

  const make = (tag, text, parent, name) => {
    const node = document.createElement(tag);
    if (text) node.textContent = text;
    if (name) node.className = name;
    parent.append(node);
    return node;
  };
  const draw = (tag, attributes, parent) => {
    const node = document.createElementNS(SVG, tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    parent.append(node);
    return node;
  };

  const switches = document.querySelectorAll("button[data-series-switch]");
  for (const button of switches) {
    button.addEventListener("click", () => {
      const label = button.dataset.seriesSwitch;
      if (off.has(label)) off.delete(label); else off.add(label);
      for (const other of switches) {
        if (other.dataset.seriesSwitch === label) other.setAttribute("aria-pressed", String(!off.has(label)));
      }
      for (const group of document.querySelectorAll(".series")) {
        if (group.dataset.series === label) group.toggleAttribute("hidden", off.has(label));
      }
    });
  }
  for (const button of document.querySelectorAll("button[data-figure-switch]")) {
    button.addEventListener("click", () => {
      const figure = document.getElementById(button.dataset.figureSwitch);
      figure.hidden = !figure.hidden;
      button.setAttribute("aria-pressed", String(!figure.hidden));
    });
  }

  for (const chart of document.querySelectorAll("svg.chart")) {
    const panel = panels[Number(chart.dataset.panel)];
    const figure = chart.closest("figure");
    const cursor = chart.querySelector(".cursor");
    const tip = make("div", "", figure, "tip");
    tip.setAttribute("role", "status");
    tip.hidden = true;
    let at = null;

    const visible = () => panel.series.filter((one) => !off.has(one.label) && one.px.length);
    const nearest = (list, x) =>
      list.reduce((best, value, i) => (Math.abs(value - x) < Math.abs(list[best] - x) ? i : best), 0);
    const places = () => [...new Set(visible().flatMap((one) => one.px))].sort((a, b) => a - b);

    const hide = () => {
      tip.hidden = true;
      cursor.replaceChildren();
    };
    const show = (x) => {
      const all = places();
      if (!all.length) return hide();
      at = all[nearest(all, x)];
      cursor.replaceChildren();
      tip.replaceChildren();
      draw("line", { x1: at, x2: at, y1: panel.top, y2: panel.bottom }, cursor);
      const head = make("b", "", tip);
      for (const one of visible()) {
        const i = nearest(one.px, at);
        if (Math.abs(one.px[i] - at) > 6) continue;
        const group = [...chart.querySelectorAll(".series")].find((node) => node.dataset.series === one.label);
        const colour = [...group.classList].find((name) => /^s\d$/.test(name));
        head.textContent ||= `${one.at[i]} ${panel.x}`;
        draw("circle", { cx: one.px[i], cy: one.py[i], r: 4, class: colour }, cursor);
        const row = make("div", "", tip, colour);
        make("i", "", row);
        const words = make("span", `${one.label}  ${one.said[i][0]}`, row);
        if (one.said[i][1]) make("small", one.said[i][1], words);
      }
      tip.hidden = false;
      const scale = chart.getBoundingClientRect().width / chart.viewBox.baseVal.width;
      const left = chart.offsetLeft + figure.clientLeft + at * scale;
      const room = figure.clientWidth - tip.offsetWidth - 4;
      const beside = left + 14 > room ? left - tip.offsetWidth - 14 : left + 14;
      tip.style.left = `${Math.max(4, Math.min(beside, room))}px`;
      tip.style.top = "2.6rem";
    };
    const toChart = (event) => {
      const box = chart.getBoundingClientRect();
      return ((event.clientX - box.left) / box.width) * chart.viewBox.baseVal.width;
    };
    chart.addEventListener("pointermove", (event) => show(toChart(event)));
    chart.addEventListener("pointerdown", (event) => show(toChart(event)));
    // A finger leaves as soon as it is lifted: what it asked for stays until it taps elsewhere.
    chart.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") hide(); });
    document.addEventListener("pointerdown", (event) => { if (!chart.contains(event.target)) hide(); });
    chart.addEventListener("blur", hide);
    chart.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (event.key === "Escape") hide();
      if (!step) return;
      event.preventDefault();
      const all = places();
      if (!all.length) return;
      const here = at === null ? (step > 0 ? -1 : all.length) : nearest(all, at);
      show(all[Math.max(0, Math.min(all.length - 1, here + step))]);
    });
  }

  for (const button of document.querySelectorAll("button.copy")) {
    button.addEventListener("click", async () => {
      const code = button.parentElement.querySelector("code");
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "copied";
      } catch {
        getSelection().selectAllChildren(code);
        button.textContent = "selected";
      }
      setTimeout(() => { button.textContent = "copy"; }, 1500);
    });
  }
})();
