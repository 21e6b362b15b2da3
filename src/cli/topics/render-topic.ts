import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { displayWidth, wrap } from "../../present/text-width.js";
import type { Topic } from "./topics.js";
import { topicAliases, topics } from "./topics.js";

/** The folder of the bundle; undefined where this file runs from source. */
declare const __BUNDLE_DIRECTORY__: string | undefined;

/** Renders a topic as plain text for a terminal of this width, followed by the topics that it links to. */
export function renderTopic({ page, section }: Topic, width: number): string {
  const all = readPage(page).split("\n");
  const lines = section === undefined ? all : sectionOf(all, section);
  const room = Math.min(width, 100);
  return [renderMarkdown(lines, room), ...seeAlso(page, lines, room)].join("\n");
}

function seeAlso(page: string, lines: readonly string[], width: number): readonly string[] {
  const links = lines.flatMap((line) => [...line.matchAll(/\]\(([\w./-]+)\.md[#)]/g)]);
  const pages = new Set(links.map(([, link = ""]) => pageOf(link, page)).filter((each) => each !== page));
  const names = [...pages].flatMap((each) => topicNameOf(each) ?? []);
  if (names.length === 0) return [];
  // The words of a command stay on one line.
  const commands = names.map((name) => `\`agent-33 help ${name}\``.replaceAll(" ", "\u00a0"));
  const wrapped = wrap(`See also: ${commands.join(", ")}`, { first: width - 2, rest: width - 2 });
  return [...wrapped.map((each) => `  ${each.replaceAll("\u00a0", " ")}`), ""];
}

/** The page that a link leads to; links are relative to the file that has them. */
const pageOf = (link: string, from: string): string =>
  posix.relative("docs", posix.join("docs", posix.dirname(from), link));

const topicNameOf = (page: string): string | undefined =>
  Object.entries({ ...topics, ...topicAliases }).find(
    ([, topic]) => topic.page === page && topic.section === undefined,
  )?.[0];

function readPage(name: string): string {
  const docs =
    typeof __BUNDLE_DIRECTORY__ === "string"
      ? `${__BUNDLE_DIRECTORY__}/../docs`
      : fileURLToPath(new URL("../../../docs", import.meta.url));
  return readFileSync(`${docs}/${name}.md`, "utf8");
}

/** The heading with this text (backticks ignored) and everything up to the next heading of its level. */
function sectionOf(lines: readonly string[], title: string): readonly string[] {
  const start = lines.findIndex((line) => headingOf(line)?.text === title);
  return start === -1 ? [] : lines.slice(start, sectionEnd(lines, start));
}

function sectionEnd(lines: readonly string[], start: number): number {
  const level = headingOf(lines[start] ?? "")?.level ?? 0;
  let inFence = false;
  for (let index = start + 1; index < lines.length; index++) {
    const line = lines[index] ?? "";
    if (line.startsWith("```")) inFence = !inFence;
    const heading = inFence ? undefined : headingOf(line);
    if (heading !== undefined && heading.level <= level) return index;
  }
  return lines.length;
}

function headingOf(line: string): { readonly level: number; readonly text: string } | undefined {
  const [, marks, text] = /^(#+) (.*)$/.exec(line) ?? [];
  return marks === undefined || text === undefined
    ? undefined
    : { level: marks.length, text: text.replaceAll("`", "") };
}

/** Headings in capitals, code indented, paragraphs and tables wrapped; comments are left out. */
function renderMarkdown(lines: readonly string[], width: number): string {
  const out: string[] = [];
  let index = 0;
  const takeWhile = (test: (line: string) => boolean): string[] => {
    const taken: string[] = [];
    while (index < lines.length && test(lines[index] ?? "")) taken.push(lines[index++] ?? "");
    return taken;
  };
  while (index < lines.length) {
    const line = lines[index] ?? "";
    const heading = headingOf(line);
    if (heading !== undefined) {
      out.push(heading.level < 3 ? heading.text.toUpperCase() : heading.text, "");
      index++;
    } else if (line.startsWith("```")) {
      index++;
      out.push(...takeWhile((each) => !each.startsWith("```")).map((each) => `    ${each}`.trimEnd()), "");
      index++;
    } else if (line.startsWith("|")) {
      out.push(
        ...renderTable(
          takeWhile((each) => each.startsWith("|")),
          width,
        ),
        "",
      );
    } else if (/^(?:-|\d+\.) /.test(line)) {
      out.push(...takeWhile((each) => each !== "").flatMap((each) => renderItem(each, width)), "");
    } else if (line === "" || line.startsWith("<!--")) {
      index++;
    } else {
      const text = takeWhile((each) => each !== "" && !each.startsWith("```")).join(" ");
      out.push(...wrap(plain(text), { first: width - 2, rest: width - 2 }).map((each) => `  ${each}`), "");
    }
  }
  return out.join("\n");
}

function renderItem(line: string, width: number): string[] {
  const [, mark = "", text = ""] = /^(\s*(?:-|\d+\.) )(.*)$/.exec(line) ?? [];
  const room = width - 2 - mark.length;
  return wrap(plain(text), { first: room, rest: room }).map(
    (each, at) => `  ${at === 0 ? mark : " ".repeat(mark.length)}${each}`,
  );
}

/** Columns that are as wide as their text needs; the widest shrink, but not below their longest word. */
function renderTable(lines: readonly string[], width: number): string[] {
  const [titles = [], , ...rows] = lines.map(cells);
  const table = [titles.map((title) => title.toUpperCase()), ...rows];
  const widths = titles.map((_, column) => Math.max(...table.map((row) => displayWidth(row[column] ?? ""))));
  const least = titles.map((_, column) =>
    Math.max(...table.flatMap((row) => (row[column] ?? "").split(" ").map(displayWidth))),
  );
  const room = width - 2 * titles.length;
  while (widths.reduce((sum, each) => sum + each, 0) > room) {
    const slack = widths.map((each, column) => (each > (least[column] ?? 0) ? each : 0));
    const widest = slack.indexOf(Math.max(...slack));
    if ((slack[widest] ?? 0) === 0) return renderRecords(table, width);
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return table.flatMap((row) => {
    const wrapped = widths.map((each, column) => wrap(row[column] ?? "", { first: each, rest: each }));
    const height = Math.max(...wrapped.map((cell) => cell.length));
    return Array.from({ length: height }, (_, at) =>
      wrapped
        .map((cell, column) => `  ${cell[at] ?? ""}`.padEnd((widths[column] ?? 0) + 2))
        .join("")
        .trimEnd(),
    );
  });
}

/** A table that is too wide for its columns: the first cell of each row, then a line for each of the others. */
function renderRecords([titles = [], ...rows]: readonly (readonly string[])[], width: number): string[] {
  return rows.flatMap(([first = "", ...others]) => [
    ...wrap(first, { first: width - 2, rest: width - 2 }).map((line) => `  ${line}`),
    ...others.flatMap((cell, index) =>
      cell === ""
        ? []
        : wrap(`${(titles[index + 1] ?? "").toLowerCase()}: ${cell}`, {
            first: width - 6,
            rest: width - 6,
          }).map((line) => `      ${line}`),
    ),
  ]);
}

const cells = (row: string): string[] =>
  row
    .slice(1, row.trimEnd().lastIndexOf("|"))
    .split(/(?<!\\)\|/)
    .map((cell) => plain(cell.trim().replaceAll("\\|", "|")).replaceAll("`", ""));

/** Markdown's emphasis and links as plain text; code keeps its backticks. */
function plain(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part
            .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
            .replace(/\*\*(.*?)\*\*/g, "$1")
            .replace(/(?<![\w])_(.+?)_(?![\w])/g, "$1"),
    )
    .join("")
    .replace(/\[(`[^`]*`)\]\([^)]*\)/g, "$1");
}
