// The charts of the page "Usage", drawn from its table. The page works without them.
(() => {
  "use strict";
  const table = document.getElementById("periods");
  const charts = document.getElementById("charts");
  if (!table || !charts || !window.uPlot) return;

  const columns = [...table.tHead.rows[0].cells].map((cell) => cell.dataset.name || "at");
  const titles = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
  const rows = [...table.tBodies[0].rows].reverse();
  const numbers = (index) => rows.map((row) => {
    const value = row.cells[index].dataset.value;
    return value ? Number(value) : null;
  });
  const times = rows.map((row) => Number(row.cells[0].dataset.at));
  const hourly = table.dataset.step === "0";

  // Half a period at each end, so that the first and the last bar are whole.
  const edge = (times[1] - times[0] || (hourly ? 3_600 : 86_400)) / 2;

  const short = new Intl.NumberFormat(page_locale, { notation: "compact", maximumFractionDigits: 2 });
  // Money looks as in the table: its sign before or after the number.
  const dollars = new Intl.NumberFormat(page_locale, { maximumFractionDigits: 4 });
  const [before, after] = rows[0].cells[columns.indexOf("cost")].textContent.split(/\d(?:.*\d)?/u);
  const shown = { "$": (value) => `${before}${dollars.format(value)}${after ?? ""}`, "%": (value) => say("{number} %", { number: short.format(value) }), "s": (value) => say("{number} s", { number: short.format(value) }) };
  const day = new Intl.DateTimeFormat(page_locale, hourly ? { hour: "numeric", minute: "2-digit", timeZone: "UTC" } : { day: "numeric", month: "short", timeZone: "UTC" });

  function draw(figure) {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const lines = [colour("--accent"), colour("--bad")];
    const label = shown[figure.dataset.unit] || ((value) => short.format(value));
    const names = figure.dataset.series.split(" ");
    const bars = figure.dataset.kind === "bars";
    const target = figure.querySelector(".plot");
    const axis = { stroke: colour("--weak"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 }, font: "12px system-ui, sans-serif" };
    const data = [times, ...names.map((name) => numbers(columns.indexOf(name)))];
    // Away from the pointer, the legend shows the latest period that has a figure.
    let latest = times.length - 1;
    while (latest > 0 && data.slice(1).every((values) => values[latest] == null)) latest -= 1;
    const shownOf = (value) => (value == null ? "–" : label(value));
    const options = {
      width: target.clientWidth, height: 180,
      tzDate: (at) => uPlot.tzDate(new Date(at * 1000), "UTC"),
      cursor: { drag: { x: false, y: false }, points: { show: !bars } },
      scales: { x: { time: true, range: (_, low, high) => [low - edge, high + edge] }, y: { range: (_, low, high) => [0, high > 0 ? high * 1.1 : 1] } },
      axes: [
        { ...axis, space: 60, values: (_, found) => found.map((at) => day.format(new Date(at * 1000))) },
        { ...axis, size: 58, values: (_, found) => found.map((value) => label(value)) },
      ],
      series: [
        { label: titles[0], value: (_, at) => day.format(new Date((at ?? times[latest]) * 1000)) },
        ...names.map((name, number) => ({
          label: titles[columns.indexOf(name)], stroke: lines[number], width: 2, spanGaps: false,
          fill: bars ? lines[number] : undefined, dash: number ? [6, 4] : undefined,
          paths: bars ? uPlot.paths.bars({ size: [0.7, 40] }) : undefined,
          points: { show: !bars && rows.length < 40, size: 5 },
          value: (_, value, series, index) => shownOf(index == null ? data[series][latest] : value),
        })),
      ],
    };
    const plot = new uPlot(options, data, target);
    new ResizeObserver(() => plot.setSize({ width: target.clientWidth, height: 180 })).observe(figure);
  }

  charts.hidden = false;
  for (const figure of charts.querySelectorAll(".chart")) {
    const names = figure.dataset.series.split(" ");
    // A chart without a single figure says nothing.
    if (names.every((name) => numbers(columns.indexOf(name)).every((value) => value == null))) figure.hidden = true;
    else draw(figure);
  }
})();
