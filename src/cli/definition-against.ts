import { existsSync, realpathSync, statSync } from "node:fs";
import { declaredEndpoints } from "../definition/declared-endpoints.js";
import type { FileSummary } from "../definition/definition-file.js";
import type { Library } from "../definition/library.js";
import { DecisionError } from "../errors.js";
import type { ReadAnew } from "./located-library.js";
import { locatedLibrary, readAnew } from "./located-library.js";

/**
 * The definitions of another directory; or those of one file in the place of those with the same ids, so that
 * the guardrails and targets beside them count as they would if it were put there. A file that has no say in
 * the decision is refused, as what is there already would pass for it.
 */
export async function libraryAgainst(against: string, directory: string, id: string): Promise<Library> {
  if (!isFile(against)) return locatedLibrary(await readAnew(against, true));
  const draft = await readAnew(against, false);
  for (const summary of draft.summaries) refuseUnfit(summary, id);
  if (!existsSync(directory)) return locatedLibrary(draft);
  return locatedLibrary(replaced(await readAnew(directory, true), draft, against));
}

function refuseUnfit(summary: FileSummary, id: string): void {
  const { file, problems, definitions, guardrails, targets, endpoints } = summary;
  if (problems.length > 0) {
    throw new DecisionError("definition_invalid", `\`${file}\` is not valid`, { details: { problems } });
  }
  const ids = definitions.map((each) => each.id);
  const isBeside = [guardrails, targets, endpoints].some((each) => each !== undefined);
  if (isBeside || ids.includes(id)) return;
  throw new DecisionError("definition_not_found", `\`${file}\` defines no decision called \`${id}\``, {
    hint:
      ids.length === 0
        ? "it defines none at all"
        : `it defines ${ids.map((each) => `\`${each}\``).join(", ")}`,
  });
}

function replaced(beside: ReadAnew, draft: ReadAnew, path: string): ReadAnew {
  const ids = new Set(
    draft.summaries.flatMap(({ definitions, claimed }) => [...definitions.map(({ id }) => id), ...claimed]),
  );
  const endpoints = new Set(declaredEndpoints(draft.summaries).map(({ name }) => name));
  const isOther = ({ file }: { readonly file: string }): boolean => !isSameFile(file, path);
  const kept = beside.summaries.filter(isOther).map((summary) => ({
    ...summary,
    definitions: summary.definitions.filter(({ id }) => !ids.has(id)),
    ...(summary.endpoints && { endpoints: summary.endpoints.filter(({ name }) => !endpoints.has(name)) }),
  }));
  return {
    summaries: [...kept, ...draft.summaries],
    located: [...beside.located.filter(isOther), ...draft.located],
  };
}

function isSameFile(a: string, b: string): boolean {
  try {
    return realpathSync(a) === realpathSync(b);
  } catch {
    return false;
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch (error) {
    throw new DecisionError("usage", `there is no file or directory \`${path}\``, {
      hint: "--against takes the path of a definition file, or of a directory of them",
      cause: error,
    });
  }
}
