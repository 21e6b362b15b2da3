import type { Connection, Diagnostic as EditorDiagnostic } from "vscode-languageserver";
import type { EditorFiles } from "./editor-files.js";
import { problemEnds } from "./problem-range.js";
import { DiagnosticSeverity } from "./protocol-library.js";
import { DecisionError } from "../errors.js";
import type { Diagnostic } from "../model/diagnostic.js";

/** Checks a directory of definitions with the content of files that are being edited, by their paths in it. */
export type CheckDefinitions = (unsaved: ReadonlyMap<string, Uint8Array>) => Promise<readonly Diagnostic[]>;

/** Milliseconds without an edit until the definitions are checked. */
const pauseMs = 150;
/** Milliseconds until files are read again that could not be read, because they were being saved. */
const retryMs = 1_000;

interface ReporterOptions {
  readonly connection: Connection;
  readonly files: EditorFiles;
  readonly check: CheckDefinitions;
}

/** Keeps the problems that the editor shows up to date. */
export class ProblemReporter {
  readonly #options: ReporterOptions;
  #timer: NodeJS.Timeout | undefined;
  #isChecking = false;
  /** The number of requests for a check. */
  #requests = 0;
  /** The problems that the editor shows, as JSON, by document. */
  #shown = new Map<string, string>();

  constructor(options: ReporterOptions) {
    this.#options = options;
  }

  /** Checks the definitions soon. A check that is running then is repeated, because its answer is outdated. */
  schedule(delay = pauseMs): void {
    this.#requests++;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#run(), delay);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    let isRetried = false;
    const requests = this.#requests;
    const isCurrent = (): boolean => this.#requests === requests;
    try {
      const problems = await this.#check();
      if (isCurrent()) await this.#show(problems);
    } catch (error) {
      this.#options.connection.console.warn(`cannot check the definitions: ${(error as Error).message}`);
      isRetried = error instanceof DecisionError && error.code === "definition_invalid";
    } finally {
      this.#isChecking = false;
    }
    if (!isCurrent()) this.schedule();
    else if (isRetried) this.schedule(retryMs);
  }

  #check(): Promise<readonly Diagnostic[]> {
    const { files, check } = this.#options;
    const encoder = new TextEncoder();
    return check(
      new Map(Array.from(files.open(), ([path, document]) => [path, encoder.encode(document.getText())])),
    );
  }

  async #show(problems: readonly Diagnostic[]): Promise<void> {
    const { connection, files } = this.#options;
    const current = new Map<string, readonly EditorDiagnostic[]>();
    for (const file of new Set(problems.map((each) => each.file))) {
      const found = problems.filter((each) => each.file === file);
      const document = files.document(file);
      const endOf = problemEnds(document.getText());
      const diagnostics = found.map(({ line, column, severity, message, hint }) => {
        const start = document.offsetAt({ line: line - 1, character: column - 1 });
        return {
          range: { start: document.positionAt(start), end: document.positionAt(endOf(start)) },
          severity: severities[severity],
          source: "agent-33",
          message: hint === undefined ? message : `${message}\nhint: ${hint}`,
        };
      });
      current.set(document.uri, diagnostics);
    }
    const shown = this.#shown;
    this.#shown = new Map(Array.from(current, ([uri, diagnostics]) => [uri, JSON.stringify(diagnostics)]));
    for (const uri of new Set([...current.keys(), ...shown.keys()])) {
      if (this.#shown.get(uri) === shown.get(uri)) continue;
      await connection.sendDiagnostics({ uri, diagnostics: [...(current.get(uri) ?? [])] });
    }
  }
}

const severities: Readonly<Record<Diagnostic["severity"], DiagnosticSeverity>> = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  note: DiagnosticSeverity.Information,
};
