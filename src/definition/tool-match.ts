import { DecisionError } from "../errors.js";
import type { PolicyDefinition } from "../model/definition.js";
import type { DefinitionSummary } from "./definition-file.js";
import type { Library } from "./library.js";

/** Returns the tools of a policy: names and globs. */
export const toolsOf = ({ tool }: PolicyDefinition): readonly string[] =>
  typeof tool === "string" ? [tool] : tool;

/** Returns the ids of the policies for a tool. Throws if any policy is broken: an unreadable policy could deny. */
export function findPolicies(tool: string, library: Library): readonly string[] {
  assertPoliciesReadable(library.brokenPolicies);
  return findValidPolicies(tool, library);
}

/** Returns the ids of the valid policies for a tool, whether or not others are broken. */
export function findValidPolicies(
  tool: string,
  { summaries }: Pick<Library, "summaries">,
): readonly string[] {
  return summaries
    .filter(({ tools, ...summary }) => {
      const isAboutTool = tools?.some((glob) => matchesGlob(glob, tool)) === true;
      return isAboutTool && !hasOverridesOnly(summary);
    })
    .map(({ id }) => id)
    .sort();
}

/** Whether a decision has only overrides for other decisions: they take part there, and it decides about no tool. */
export const hasOverridesOnly = ({
  policies,
  foreignOverrides = [],
}: Pick<DefinitionSummary, "policies" | "foreignOverrides">): boolean =>
  policies?.length === 0 && foreignOverrides.length > 0;

function assertPoliciesReadable(problems: Library["brokenPolicies"]): void {
  if (problems.length === 0) return;
  const files = [...new Set(problems.map(({ file }) => file))];
  const shown = files.slice(0, 3).map((file) => `\`${file}\``);
  const more = files.length > shown.length ? " and others" : "";
  throw new DecisionError("definition_invalid", `a policy may be invalid: ${shown.join(", ")}${more}`, {
    hint: "no call is allowed while a policy cannot be read; run `agent-33 decision validate`",
    details: { problems },
  });
}

/** Whether a name matches a glob: `*` matches any characters, `?` one. Takes linear time for each `*`. */
export function matchesGlob(glob: string, tool: string): boolean {
  let at = 0;
  let place = 0;
  let star = -1;
  let resume = 0;
  while (place < tool.length) {
    if (glob[at] === "*") {
      star = at++;
      resume = place;
    } else if (glob[at] === "?") {
      at++;
      place += characterLength(tool, place);
    } else if (at < glob.length && glob[at] === tool[place]) {
      at++;
      place++;
    } else if (star !== -1) {
      at = star + 1;
      resume += characterLength(tool, resume);
      place = resume;
    } else return false;
  }
  while (glob[at] === "*") at++;
  return at === glob.length;
}

/** A character outside the basic plane, such as an emoji, has two UTF-16 units. */
const characterLength = (text: string, at: number): number => ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);

/** Whether some tool matches a glob of both lists. */
export const haveCommonTool = (some: readonly string[], others: readonly string[]): boolean =>
  some.some((glob) => others.some((other) => globsOverlap(glob, other)));

/** Whether some name matches both globs. */
export function globsOverlap(one: string, other: string): boolean {
  if (!/[*?]/.test(one)) return matchesGlob(other, one);
  if (!/[*?]/.test(other)) return matchesGlob(one, other);
  const [a, b] = [Array.from(one), Array.from(other)];
  // For each position in `b`: whether the rest of `a` and the rest of `b` overlap; from the end of `a` to its start.
  let below: readonly boolean[] = [];
  for (let i = a.length; i >= 0; i--) {
    const row: boolean[] = [];
    for (let j = b.length; j >= 0; j--) {
      const [left, right] = [a[i], b[j]];
      if (left === undefined && right === undefined) row[j] = true;
      else if (left === "*") row[j] = below[j] === true || (right !== undefined && row[j + 1] === true);
      else if (right === "*") row[j] = row[j + 1] === true || (left !== undefined && below[j] === true);
      else {
        const isSame =
          left !== undefined && right !== undefined && (left === "?" || right === "?" || left === right);
        row[j] = isSame && below[j + 1] === true;
      }
    }
    below = row;
  }
  return below[0] === true;
}
