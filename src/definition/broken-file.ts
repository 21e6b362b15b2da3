import type { Problem } from "../model/problem.js";
import type { DecisionType } from "../model/definition.js";
import type { DefinitionFile, FileSummary } from "./definition-file.js";
import { nearest } from "../nearest.js";
import { decisionTypes } from "./decision-types.js";
import { mayHold } from "./hidden-keys.js";
import { largestFile } from "./limits.js";

/** What stands for a file that could not even be read. */
export function unusable(file: string, reason: string, beginning?: string): DefinitionFile {
  return broken(file, beginning ?? "", [atStart(file, reason)], { isSeen: false });
}

export const tooLarge = `a definition file has at most ${largestFile} bytes`;

function atStart(file: string, message: string): Problem {
  return { file, line: 1, column: 1, severity: "error", message };
}

/** Nobody reads more at once. */
const mostProblems = 200;

const idLine = /(?<![A-Za-z0-9_-])id["']?[ \t]{0,8}:[ \t]{0,8}["']?([A-Za-z0-9._-]{1,128})/g;

const decisionKeys = /(?<![A-Za-z0-9_-])decision["']?[ \t]{0,8}:/g;
const typeKeys = /(?<![A-Za-z0-9_-])type["']?[ \t]{0,8}:[ \t]{0,8}["']?([A-Za-z_]{1,32})/g;

/** Whether a decision of this type may be among those that the text seems to declare. */
function mayDeclare(wanted: DecisionType, text: string): boolean {
  const decisions = [...text.matchAll(decisionKeys)].length;
  const types = [...text.matchAll(typeKeys)].map(([, type = ""]) => nearest(type, decisionTypes));
  const others = types.filter((type) => type !== undefined && type !== wanted);
  return decisions === 0 || others.length < decisions;
}

const nameKeys = /(?<![A-Za-z0-9_-])name["']?[ \t]{0,8}:[ \t]{0,8}["']?([^\s"',{}]{1,128})/g;

/** A key of the document, misspelt perhaps; of a document in braces, at least one of its maps. */
const targetsKey = /(?:^["']?targ[a-z]{0,8}|(?:^[ \t]{0,80}"|[{,][ \t]{0,8}["']?)targets)["']?[ \t]{0,8}:/m;
const disabledKey = /(?<![A-Za-z0-9_-])disabled["']?[ \t]{0,8}:/;

type Hidden = Pick<
  FileSummary,
  "hidesPolicy" | "hidesGates" | "hidesGuardrails" | "hidesTargets" | "hidesEndpoints"
>;

function hiddenIn(text: string, { isSeen = true, documents }: Seen): Hidden {
  const hidesTargets = targetsKey.test(text);
  // What is switched off stays so: nothing may lead there because it cannot be read.
  const isUnknown = !isSeen && text === "";
  const isGuarding =
    isUnknown || mayHold("guardrails", text, documents) || (hidesTargets && disabledKey.test(text));
  const guards = isGuarding ? { hidesGuardrails: true as const } : {};
  if (!isSeen)
    return { hidesPolicy: true, hidesGates: "any", hidesTargets: true, hidesEndpoints: true, ...guards };
  const names = [...text.matchAll(nameKeys)].map(([, name = ""]) => name);
  return {
    ...(mayDeclare("policy", text) && { hidesPolicy: true }),
    ...(mayDeclare("gate", text) && { hidesGates: names }),
    ...guards,
    ...(hidesTargets && { hidesTargets: true }),
    ...(mayHold("endpoints", text, documents) && { hidesEndpoints: true }),
  };
}

/** How much of a file could be made out. */
interface Seen {
  /** Its text was read. */
  readonly isSeen?: boolean;
  /** What it holds, where it is YAML after all. */
  readonly documents?: readonly unknown[] | undefined;
}

/** A file with an error declares nothing, but for the ids that it seems to mean. What was not seen may be anything. */
export function broken(
  file: string,
  text: string,
  problems: readonly Problem[],
  seen: Seen = {},
): DefinitionFile {
  const claimed = [...text.matchAll(idLine)].map((found) => found[1] ?? "");
  const all = problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
  const last = all.at(mostProblems);
  const more = `there are ${all.length - mostProblems} more problems`;
  const inOrder =
    last === undefined
      ? all
      : [...all.slice(0, mostProblems), { ...last, message: more, hint: "mend these first" }];
  return {
    summary: {
      file,
      definitions: [],
      problems: inOrder,
      claimed,
      ...hiddenIn(text, seen),
    },
    body: { definitions: [], tests: [] },
  };
}
