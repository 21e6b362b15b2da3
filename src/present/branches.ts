import type { Colour, Style } from "./format.js";
import { oneLine } from "./text.js";
import { truncate, displayWidth, wrap } from "./text-width.js";

/** Something with what belongs to it. */
export interface Branch {
  readonly mark?: Mark;
  /** Stands first, and is never broken. */
  readonly name?: string;
  readonly colour?: Colour;
  /** Sentences go on on the next line, values are cut, ids are neither. */
  readonly sentence?: string;
  readonly value?: string;
  readonly id?: string;
  readonly under?: readonly Branch[];
}

type Mark = "✓" | "✗" | "!" | "–";

const colours: Readonly<Record<Mark, Colour>> = { "✓": "green", "✗": "red", "!": "yellow", "–": "dim" };

interface Step {
  readonly branch: Branch;
  /** What stands before its first line, and before all that is under it. */
  readonly before: string;
  readonly below: string;
}

/** A tree for people, as wide as the terminal. */
export function drawBranches(root: Branch, style: Style): string {
  const lines: string[] = [];
  const steps: Step[] = [{ branch: root, before: "", below: "" }];
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    const { branch, below } = step;
    const { under = [] } = branch;
    lines.push(...linesOf(step, style));
    const children = under.map((child, index) => {
      const isLast = index === under.length - 1;
      const before = `${below}${isLast ? "└─ " : "├─ "}`;
      return { branch: child, before, below: `${below}${isLast ? "   " : "│  "}` };
    });
    steps.push(...children.reverse());
  }
  return lines.join("\n");
}

/** The same with its values in full. */
export function uncut({ value, under = [], ...branch }: Branch): Branch {
  return { ...branch, ...(value !== undefined && { id: value }), under: under.map(uncut) };
}

function linesOf({ branch, before, below }: Step, { columns, paint }: Style): readonly string[] {
  const { mark, name, colour, under = [] } = branch;
  const label = name === undefined ? "" : oneLine(name);
  const [first = "", ...rest] = textsOf(branch, {
    first:
      columns -
      displayWidth(before) -
      (mark === undefined ? 0 : 2) -
      (label === "" ? 0 : displayWidth(label) + 2),
    rest: columns - displayWidth(below) - 3,
  });
  const shownLabel = colour === undefined ? label : paint(colour, label);
  const between = label === "" ? "" : first === "" && rest.length === 0 ? "" : ":";
  const beginning = [
    before === "" ? "" : paint("dim", before),
    mark === undefined ? "" : `${paint(colours[mark], mark)} `,
    `${shownLabel}${between}`,
    first === "" || label === "" ? first : ` ${first}`,
  ].join("");
  const indent = `${below}${under.length > 0 ? "│  " : "   "}`;
  return [beginning, ...rest.map((text) => `${paint("dim", indent)}${text}`)];
}

/** A value that is cut any further says nothing. */
const shortest = 8;

function textsOf(
  { sentence, value, id }: Branch,
  room: { readonly first: number; readonly rest: number },
): readonly string[] {
  if (sentence !== undefined) return wrap(oneLine(sentence), room);
  if (value !== undefined) return [truncate(oneLine(value), Math.max(shortest, room.first))];
  return id === undefined ? [] : [oneLine(id)];
}
