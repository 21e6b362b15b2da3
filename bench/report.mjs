export function asHeading({ node, cores, short }) {
  return `node ${node}, ${cores} cores, ${short ? "short" : "full"} form; medians of interleaved rounds\n\n`;
}

/** A section as a table for people. */
export function asText({ title, unit, ratio, rows }) {
  const head = ["", unit, ratio, "target", ""];
  const lines = rows.map((row) => [
    row.contestant,
    row.figure === undefined ? "–" : asFigure(row.figure),
    row.ratio === undefined ? "–" : `${asFigure(row.ratio)} ×`,
    row.target === undefined ? "" : asVerdict(row),
    row.note ?? "",
  ]);
  const grid = [head, ...lines];
  const widths = head.map((_, column) => Math.max(...grid.map((line) => line[column].length)));
  return `${title}\n${grid.map((line) => asLine(line, widths)).join("\n")}\n\n`;
}

/** All sections as one JSON document. */
export function asDocument(form, sections) {
  const measured = sections.map(({ failures, rows, ...section }) => ({
    ...section,
    rows: rows.map((row) => (row.target === undefined ? row : { ...row, met: isMet(row) })),
    failures,
  }));
  return `${JSON.stringify({ ...form, sections: measured }, undefined, 2)}\n`;
}

function asLine(cells, widths) {
  const [first, figure, ratio, ...others] = cells;
  const padded = [
    first.padEnd(widths[0]),
    figure.padStart(widths[1]),
    ratio.padStart(widths[2]),
    ...others.map((cell, index) => cell.padEnd(widths[index + 3])),
  ];
  return `  ${padded.join("  ")}`.trimEnd();
}

function asFigure(value) {
  if (value < 0.1) return value.toPrecision(2);
  const digits = value < 10 ? 2 : value < 1000 ? 1 : 0;
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function asVerdict(row) {
  const { least, most } = row.target;
  const wanted = least === undefined ? `≤ ${most}` : `≥ ${least}`;
  return isMet(row) ? `ok (${wanted})` : `MISSED (target ${wanted})`;
}

function isMet({ ratio, target: { least = -Infinity, most = Infinity } }) {
  return ratio >= least && ratio <= most;
}
