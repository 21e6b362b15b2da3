import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { pathToFileURL } from "node:url";
import type { MessageConnection } from "vscode-jsonrpc/node.js";
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from "vscode-jsonrpc/node.js";
import type { Diagnostic, InitializeResult, Position } from "vscode-languageserver-protocol";
import { bin, cleanEnvironment } from "../acceptance/command.js";

/** An editor with the language server as a child process. */
export class EditorClient {
  readonly #directory: string;
  readonly #process: ChildProcess;
  readonly #connection: MessageConnection;
  readonly #versions = new Map<string, number>();
  readonly #problems = new Map<string, readonly Diagnostic[]>();
  #onProblems: () => void = () => undefined;
  readonly exitCode: Promise<number | null>;

  constructor(directory: string, flags: readonly string[] = []) {
    this.#directory = directory;
    const env = cleanEnvironment() as NodeJS.ProcessEnv;
    const child = spawn(process.execPath, [bin, "lsp", ...flags], {
      env,
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#process = child;
    this.exitCode = new Promise((resolve) => child.once("exit", (code) => resolve(code)));
    this.#connection = createMessageConnection(
      new StreamMessageReader(child.stdout),
      new StreamMessageWriter(child.stdin),
    );
    this.#connection.onNotification(
      "textDocument/publishDiagnostics",
      ({ uri, diagnostics }: { readonly uri: string; readonly diagnostics: readonly Diagnostic[] }) => {
        this.#problems.set(uri, diagnostics);
        this.#onProblems();
      },
    );
    this.#connection.listen();
  }

  async start(): Promise<InitializeResult> {
    const rootUri = pathToFileURL(this.#directory).href;
    const result = await this.request<InitializeResult>("initialize", {
      processId: process.pid,
      rootUri,
      capabilities: {},
      workspaceFolders: [{ uri: rootUri, name: "workspace" }],
    });
    await this.#connection.sendNotification("initialized", {});
    return result;
  }

  uri(file: string): string {
    return pathToFileURL(`${this.#directory}/${file}`).href;
  }

  request<Answer>(method: string, params?: object): Promise<Answer> {
    return this.#connection.sendRequest<Answer>(method, params);
  }

  /** Asks about a position of an open file. */
  at<Answer>(method: string, file: string, position: Position): Promise<Answer> {
    return this.request(`textDocument/${method}`, { textDocument: { uri: this.uri(file) }, position });
  }

  async open(file: string, text: string): Promise<void> {
    this.#versions.set(file, 1);
    const textDocument = { uri: this.uri(file), languageId: "yaml", version: 1, text };
    await this.#connection.sendNotification("textDocument/didOpen", { textDocument });
  }

  async change(file: string, text: string): Promise<void> {
    const version = (this.#versions.get(file) ?? 0) + 1;
    this.#versions.set(file, version);
    const textDocument = { uri: this.uri(file), version };
    await this.#connection.sendNotification("textDocument/didChange", {
      textDocument,
      contentChanges: [{ text }],
    });
  }

  async close(file: string): Promise<void> {
    const textDocument = { uri: this.uri(file) };
    await this.#connection.sendNotification("textDocument/didClose", { textDocument });
  }

  /** Resolves when the editor shows such problems of a file. */
  async problems(
    file: string,
    isWanted: (problems: readonly Diagnostic[]) => boolean,
  ): Promise<readonly Diagnostic[]> {
    for (;;) {
      const found = this.#problems.get(this.uri(file));
      if (found !== undefined && isWanted(found)) return found;
      await new Promise<void>((resolve) => (this.#onProblems = resolve));
    }
  }

  async stop(): Promise<number | null> {
    await this.request("shutdown");
    await this.#connection.sendNotification("exit");
    return this.exitCode;
  }

  closeInput(): Promise<number | null> {
    this.#process.stdin?.end();
    return this.exitCode;
  }

  kill(): void {
    this.#connection.dispose();
    this.#process.kill();
  }
}
