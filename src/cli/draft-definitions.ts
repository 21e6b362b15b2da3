import { existsSync, realpathSync, statSync } from "node:fs";
import type { DefinitionFiles } from "./definition-files.js";
import { libraryOf, readDefinitionFiles } from "./definition-files.js";
import type { FileSummary } from "../definition/definition-file.js";
import { declaredEndpoints } from "../definition/definition-file.js";
import type { Library } from "../definition/library.js";
import { DecisionError } from "../errors.js";

interface DraftOptions {
  /** The decision that the draft is for. */
  readonly id: string;
  /** The directory of the current definitions. */
  readonly directory: string;
  /** Whether a file may have only declarations for all decisions, such as guardrails. */
  readonly mayBeShared: boolean;
}

/**
 * Loads the definitions that --against names: those of another directory, or those of the current directory with one
 * file replaced, so that its guardrails and targets apply to the draft. Throws if the file does not affect the decision:
 * otherwise the current definition would be used instead.
 */
export async function draftLibrary(
  against: string,
  { id, directory, mayBeShared }: DraftOptions,
): Promise<Library> {
  if (!isFile(against)) return libraryOf(await readDefinitionFiles(against, true));
  const draft = await readDefinitionFiles(against, false);
  for (const summary of draft.summaries) assertAffects(summary, id, mayBeShared);
  if (!existsSync(directory)) return libraryOf(draft);
  return libraryOf(replaceDefinitions(await readDefinitionFiles(directory, true), draft, against));
}

function assertAffects(summary: FileSummary, id: string, mayBeShared: boolean): void {
  const { file, diagnostics, definitions, guardrails, targets, endpoints, masks } = summary;
  if (diagnostics.length > 0) {
    throw new DecisionError("definition_invalid", `\`${file}\` is not valid`, {
      details: { problems: diagnostics },
    });
  }
  const ids = definitions.map((each) => each.id);
  const isShared =
    [guardrails, targets, endpoints, masks].some((each) => each !== undefined) ||
    definitions.some(({ foreignOverrides }) => foreignOverrides !== undefined);
  if ((mayBeShared && isShared) || ids.includes(id)) return;
  throw new DecisionError("definition_not_found", `\`${file}\` defines no decision called \`${id}\``, {
    hint:
      ids.length === 0
        ? "it defines no decisions"
        : `it defines ${ids.map((each) => `\`${each}\``).join(", ")}`,
  });
}

function replaceDefinitions(current: DefinitionFiles, draft: DefinitionFiles, path: string): DefinitionFiles {
  const ids = new Set(
    draft.summaries.flatMap(({ definitions, claimedIds }) => [
      ...definitions.map(({ id }) => id),
      ...claimedIds,
    ]),
  );
  const endpoints = new Set(declaredEndpoints(draft.summaries).map(({ name }) => name));
  const isOther = ({ file }: { readonly file: string }): boolean => !isSameFile(file, path);
  const kept = current.summaries.filter(isOther).map((summary) => ({
    ...summary,
    definitions: summary.definitions.filter(({ id }) => !ids.has(id)),
    ...(summary.endpoints && { endpoints: summary.endpoints.filter(({ name }) => !endpoints.has(name)) }),
  }));
  return {
    summaries: [...kept, ...draft.summaries],
    located: [...current.located.filter(isOther), ...draft.located],
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
    const { code, message } = error as NodeJS.ErrnoException;
    const reason =
      code === "ENOENT" ? `no such file or directory: \`${path}\`` : `cannot read \`${path}\`: ${message}`;
    throw new DecisionError("usage", reason, {
      hint: "--against takes a definition file or a directory of definitions",
      cause: error,
    });
  }
}
