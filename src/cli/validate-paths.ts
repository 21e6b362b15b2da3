import { readFileSync, realpathSync, statSync } from "node:fs";
import type { DefinitionFiles } from "./definition-files.js";
import { libraryOf, readDefinitionFiles } from "./definition-files.js";
import type { ApprovalSettings } from "./settings.js";
import { reviewConditions } from "../analysis/review-conditions.js";
import { approvalOf } from "../definition/approval/approved-library.js";
import { verifyLock } from "../definition/approval/lock.js";
import type { FileSummary } from "../definition/definition-file.js";
import type { Library } from "../definition/library.js";
import { diagnosticAt, locateFinding, sortDiagnostics } from "../definition/diagnostics.js";
import type { LocatedDefinition } from "../definition/read-definitions.js";
import { reviewDirectory } from "../definition/reviews/review-directory.js";
import { DecisionError } from "../errors.js";
import type { StaticCheck } from "../guard/static-checks.js";
import { staticChecks } from "../guard/static-checks.js";
import type { Approval, ApprovalLock } from "../model/approval.js";
import type { LoadedDefinition, Definition, OnFail } from "../model/definition.js";
import type { Diagnostic } from "../model/diagnostic.js";
import { hasApprovalLock, approvalLockPath, readApprovalLock } from "../store/approval-lock-file.js";
import { signatureVerifier } from "../store/approval-keys.js";
import { displayPath } from "../store/definition-directory.js";

export interface ValidationReport {
  /** Sorted by file and position. */
  readonly problems: readonly Diagnostic[];
  readonly decisions: number;
  /** Whether the files declare nothing. */
  readonly isEmpty: boolean;
  /** Number of guardrails that could be checked without an input. */
  readonly guardrails: number;
}

/**
 * Checks definition files and, in directories, the approval lock. Does not use the cache. `unsaved` is the content of
 * files that are being edited, by their paths in the only directory.
 */
export async function validatePaths(
  paths: readonly string[],
  approval: ApprovalSettings = { required: false, trustedKeys: () => [] },
  unsaved?: ReadonlyMap<string, Uint8Array>,
): Promise<ValidationReport> {
  const read: DefinitionFiles[] = [];
  const approvals: Diagnostic[] = [];
  for (const path of uniquePaths(paths)) {
    const isFolder = isDirectory(path);
    const files = await readDefinitionFiles(path, isFolder, unsaved);
    read.push(files);
    if (isFolder) approvals.push(...(await checkApprovals(path, libraryOf(files), approval)));
  }
  const located = read.flatMap((each) => each.located);
  const summaries = read.flatMap((each) => each.summaries);
  const isPart = read.some((each) => each.isPart);
  const library = libraryOf({ summaries, located, isPart });
  const guarded = await checkGuardrails(located, library);
  const tests = read.flatMap((each) => each.tests ?? []).filter((each) => each.tests.length > 0);
  const overridden = library.summaries.flatMap(({ foreignOverrides = [] }) =>
    foreignOverrides.flatMap(({ foreign }) => foreign.map(({ policy }) => policy)),
  );
  const { findTestProblems } = await import("./open-tests.js");
  const { findAddressFault: classifyAddress } = await import("../enrichment/address.js");
  const problems = [
    ...library.diagnostics,
    ...summaries.flatMap(({ testDiagnostics = [] }) => testDiagnostics),
    ...reviewDirectory(summaries, located, {
      classifyAddress,
      isPart,
      tests: tests.flatMap((each) => each.tests),
    }),
    ...located.flatMap((each) => reviewConditions(each, overridden)),
    ...guarded.problems,
    ...(await findTestProblems(tests, library, { isPart, readFile: fileReader(paths, unsaved) })),
    ...approvals,
  ];
  return {
    problems: sortDiagnostics(problems),
    decisions: located.length,
    guardrails: guarded.checked,
    isEmpty: summaries.every(isEmpty),
  };
}

/** Reads files of a directory as they are being edited. */
function fileReader(
  [directory = ""]: readonly string[],
  unsaved: ReadonlyMap<string, Uint8Array> = new Map(),
): (path: string) => Uint8Array {
  const edited = new Map(Array.from(unsaved, ([path, content]) => [displayPath(directory, path), content]));
  return (path) => edited.get(path) ?? readFileSync(path);
}

const isEmpty = ({ definitions, tests = 0, diagnostics, ...shared }: FileSummary): boolean =>
  definitions.length + tests === 0 &&
  [shared.guardrails, shared.targets, shared.endpoints, shared.masks, shared.observers].every(
    (each) => each === undefined,
  ) &&
  diagnostics.length === 0;

/** Removes duplicates, and paths inside another one of the paths. */
function uniquePaths(paths: readonly string[]): readonly string[] {
  const real = new Map(paths.map((path) => [realPathOf(path), path]));
  const inside = (path: string): boolean =>
    [...real.keys()].some((other) => path !== other && path.startsWith(`${other}/`));
  return [...real].filter(([path]) => !inside(path)).map(([, path]) => path);
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Throws for a single file: a lock approves a whole directory. */
export function assertDirectories(paths: readonly string[]): void {
  const file = paths.find((path) => !isDirectory(path));
  if (file === undefined) return;
  throw new DecisionError("usage", `cannot check the approval of the single file \`${file}\``, {
    hint: "with --require-approval, specify the directory that contains the lock",
  });
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason =
      code === "ENOENT" ? `no such file or directory: \`${path}\`` : `cannot read \`${path}\`: ${message}`;
    throw new DecisionError("usage", reason, { cause: error });
  }
}

/** Checks the approval lock of a directory. Diagnostics are errors if approval is required, else warnings. */
export async function checkApprovals(
  directory: string,
  library: Library,
  { required, trustedKeys }: ApprovalSettings,
): Promise<readonly Diagnostic[]> {
  const file = approvalLockPath(directory);
  const severity = required ? "error" : "warning";
  if (!hasApprovalLock(directory))
    return required
      ? [missingLock(file), ...(await unapprovedDefinitions(undefined, library, severity))]
      : [];
  try {
    const lock = readApprovalLock(directory);
    const keys = trustedKeys();
    if (lock === undefined) return [];
    verifyLock(lock, file, keys.length === 0 ? undefined : signatureVerifier(keys));
    return [
      ...(keys.length === 0 ? [unverifiedLock(file, required)] : []),
      ...(await unapprovedDefinitions(lock, library, severity)),
      ...missingDefinitions(lock, library, { file, severity }),
    ];
  } catch (error) {
    if (!(error instanceof DecisionError) || error.code !== "not_approved") throw error;
    const { message, hint } = error;
    return [{ ...startOf(file), severity: "error", message, ...(hint !== undefined && { hint }) }];
  }
}

const startOf = (file: string): Pick<Diagnostic, "file" | "line" | "column"> => ({
  file,
  line: 1,
  column: 1,
});

const missingLock = (file: string): Diagnostic => ({
  ...startOf(file),
  severity: "error",
  message: "no definition is approved: there is no lock",
  hint: "approve definitions with `agent-33 decision approve ID --key FILE`",
});

const unverifiedLock = (file: string, required: boolean): Diagnostic =>
  required
    ? {
        ...startOf(file),
        severity: "error",
        message: "no trusted key is configured, so no definition is approved",
        hint: "trust one with `agent-33 decision config set trusted_keys ed25519:…`",
      }
    : {
        ...startOf(file),
        severity: "note",
        message: "signatures are not checked because no trusted key is configured",
      };

async function unapprovedDefinitions(
  lock: ApprovalLock | undefined,
  library: Library,
  severity: Diagnostic["severity"],
): Promise<readonly Diagnostic[]> {
  const loaded = await Promise.all(library.ids.map((id) => library.findForInspection(id)));
  return loaded.flatMap((each) => {
    const { definition, file, line } = each;
    const message = approvalMessage(each, lock);
    return message === undefined
      ? []
      : [{ file, line, column: 1, severity, decision_id: definition.id, ...message }];
  });
}

function approvalMessage(
  { definition: { id }, ...hashes }: LoadedDefinition,
  lock: ApprovalLock | undefined,
): Pick<Diagnostic, "message" | "hint"> | undefined {
  const { state, serial = 0 }: Approval = lock ? approvalOf(lock, id, hashes) : { state: "unknown" };
  switch (state) {
    case "approved":
      return undefined;
    case "retired":
      return { message: `\`${id}\` was retired with serial ${serial}` };
    case "changed":
      return {
        message: `\`${id}\` changed since it was approved with serial ${serial}`,
        hint: `see what changed with \`agent-33 decision diff ${id}\``,
      };
    case "unknown":
      return {
        message: `\`${id}\` is not approved`,
        hint: `approve it with \`agent-33 decision approve ${id} --key FILE\``,
      };
  }
}

function missingDefinitions(
  { entries }: ApprovalLock,
  { ids, broken }: Library,
  { file, severity }: Pick<Diagnostic, "file" | "severity">,
): readonly Diagnostic[] {
  return entries
    .filter(
      ({ status, decision_id: id }) => status === "approved" && !ids.includes(id) && !broken.includes(id),
    )
    .map(({ decision_id, serial }) => ({
      ...startOf(file),
      severity,
      decision_id,
      message: `\`${decision_id}\` was approved with serial ${serial}, but its definition is missing`,
      hint: `restore it, or retire it with \`agent-33 decision retire ${decision_id} --key FILE\``,
    }));
}

/** Runs the guardrails that can be checked without an input. */
export async function checkGuardrails(
  located: readonly LocatedDefinition[],
  library: Library,
): Promise<{ readonly problems: readonly Diagnostic[]; readonly checked: number }> {
  const problems: Diagnostic[] = [];
  let checked = 0;
  for (const each of located) {
    const checks = await staticChecksOf(each.definition, library);
    checked += checks.length;
    problems.push(...checks.flatMap((check) => failureDiagnostics(check, each)));
  }
  return { problems, checked };
}

/** Returns nothing for an invalid definition, which has a diagnostic of its own. */
async function staticChecksOf({ id }: Definition, library: Library): Promise<readonly StaticCheck[]> {
  try {
    return staticChecks(await library.find(id));
  } catch (error) {
    if (error instanceof DecisionError) return [];
    throw error;
  }
}

const effectsOnTarget: Readonly<Record<OnFail, string>> = {
  block: "so decisions that select it are blocked",
  escalate: "so decisions that select it are escalated",
  warn: "so decisions that select it have a warning",
};

function failureDiagnostics(
  { guardrail, failures }: StaticCheck,
  { file, definition, source, summary }: LocatedDefinition,
): readonly Diagnostic[] {
  const index = definition.guardrails?.indexOf(guardrail) ?? -1;
  const { type, on_fail: onFail = "block" } = guardrail;
  // A drift check that cannot run always blocks.
  const effect =
    type === "no_disabled_targets"
      ? effectsOnTarget[onFail]
      : `so every decision ${effectsOnAll[type === "distribution_drift" ? "block" : onFail]}`;
  const place = { file, decision_id: definition.id };
  return failures.map((failure) => {
    const message = `guardrail \`${type}\` fails: ${failure}, ${effect}`;
    return index === -1
      ? diagnosticAt({ ...place, ...summary.position }, { severity: "warning", message })
      : locateFinding(
          { path: ["decision", "guardrails", index], severity: "warning", message },
          source,
          place,
        );
  });
}

const effectsOnAll: Readonly<Record<OnFail, string>> = {
  block: "is blocked",
  escalate: "is escalated",
  warn: "has a warning",
};
