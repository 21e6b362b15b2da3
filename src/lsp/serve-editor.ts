import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type {
  CompletionItem,
  Connection,
  DocumentSymbol,
  InitializeParams,
  Location,
  Range,
  ServerCapabilities,
  TextEdit,
} from "vscode-languageserver";
import { suggestionsAt } from "./complete.js";
import { FramedInput } from "./framed-input.js";
import { EditorFiles } from "./editor-files.js";
import { declarationsAt, documentationAt } from "./hover.js";
import type { OutlineEntry } from "./outline.js";
import { outlineOf } from "./outline.js";
import type { CheckDefinitions } from "./problems.js";
import { ProblemReporter } from "./problems.js";
import { ProjectNames } from "./project-names.js";
import {
  createConnection,
  DidChangeWatchedFilesNotification,
  MarkupKind,
  ProposedFeatures,
  SymbolKind,
  TextDocument,
  TextDocuments,
  TextDocumentSyncKind,
} from "./protocol-library.js";
import { maxFileBytes } from "../definition/broken-file.js";
import { formatDefinitions } from "../definition/formatting/format-definitions.js";
import { displayPath } from "../store/definition-directory.js";

/** A directory of definitions, and how it is checked. */
export interface EditedDirectory {
  /** An absolute path. */
  readonly directory: string;
  readonly check: CheckDefinitions;
}

export interface EditorOptions {
  readonly version: string;
  /** Opens the definitions of a workspace; throws if it has none. */
  readonly openDirectory: (workspace: string | undefined) => EditedDirectory;
  readonly input: Readable;
  readonly output: Writable;
  /** Called before the process ends because a message has no valid header: what follows cannot be read. */
  readonly onInvalidInput: (error: Error) => void;
}

const capabilities: ServerCapabilities = {
  textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental, save: true },
  completionProvider: { triggerCharacters: [" ", ".", '"', "'", "-", "("] },
  hoverProvider: true,
  definitionProvider: true,
  documentSymbolProvider: true,
  documentFormattingProvider: true,
};

/**
 * Serves an editor over the Language Server Protocol. The library ends the process: with 0 if the editor has sent
 * `shutdown` before `exit` or before it closed the input, else with 1.
 */
export function serveEditor({ version, openDirectory, input, output, onInvalidInput }: EditorOptions): void {
  const framed = input.pipe(new FramedInput()).once("error", onInvalidInput);
  const connection = createConnection(ProposedFeatures.all, framed, output);
  const documents = new TextDocuments(TextDocument);
  let session: Session | undefined;
  let canWatch = false;
  connection.onInitialize((params) => {
    canWatch = params.capabilities.workspace?.didChangeWatchedFiles?.dynamicRegistration ?? false;
    try {
      session = new Session(openDirectory(workspaceOf(params)), connection, documents);
    } catch (error) {
      connection.console.warn((error as Error).message);
    }
    return { capabilities, serverInfo: { name: "agent-33", version } };
  });
  connection.onInitialized(() => {
    if (canWatch) watchFiles(connection);
    session?.reporter.schedule(0);
  });
  const onChange = (): void => session?.reporter.schedule();
  documents.onDidChangeContent(onChange);
  documents.onDidClose(onChange);
  documents.onDidSave(onChange);
  connection.onDidChangeWatchedFiles(onChange);
  connection.onCompletion(
    ({ textDocument, position }) => session?.complete(textDocument.uri, position) ?? [],
  );
  connection.onHover(({ textDocument, position }) => session?.hover(textDocument.uri, position) ?? null);
  connection.onDefinition(({ textDocument, position }) => session?.define(textDocument.uri, position) ?? []);
  connection.onDocumentSymbol(({ textDocument }) => session?.outline(textDocument.uri) ?? []);
  connection.onDocumentFormatting(({ textDocument }) => session?.format(textDocument.uri) ?? []);
  connection.onShutdown(() => session?.reporter.stop());
  documents.listen(connection);
  connection.listen();
}

// eslint-disable-next-line @typescript-eslint/no-deprecated -- some clients send nothing else
function workspaceOf({ workspaceFolders, rootUri }: InitializeParams): string | undefined {
  const uri = workspaceFolders?.[0]?.uri ?? rootUri;
  return uri?.startsWith("file:") === true ? fileURLToPath(uri) : undefined;
}

function watchFiles(connection: Connection): void {
  const watchers = [{ globPattern: "**/*.{yaml,yml,json,lock}" }];
  connection.client
    .register(DidChangeWatchedFilesNotification.type, { watchers })
    .catch((error: unknown) => connection.console.warn(`cannot watch files: ${String(error)}`));
}

type Position = Range["start"];

/** Answers the questions of an editor about one directory. */
class Session {
  readonly reporter: ProblemReporter;
  readonly #files: EditorFiles;
  readonly #documents: TextDocuments<TextDocument>;
  readonly #names: ProjectNames;

  constructor(
    { directory, check }: EditedDirectory,
    connection: Connection,
    documents: TextDocuments<TextDocument>,
  ) {
    this.#documents = documents;
    this.#files = new EditorFiles(directory, documents);
    this.#names = new ProjectNames(directory, () => {
      const open = Array.from(this.#files.open(), ([path, document]) => [path, document.getText()] as const);
      return new Map(open.map(([path, text]) => [displayPath(directory, path), text]));
    });
    this.reporter = new ProblemReporter({ connection, files: this.#files, check });
  }

  complete(uri: string, position: Position): CompletionItem[] {
    const document = this.#find(uri);
    if (document === undefined) return [];
    const found = suggestionsAt(document.getText(), document.offsetAt(position), this.#names.all());
    const range = rangeIn(document, found.from, found.to);
    return found.items.map(({ insert, ...item }) => ({
      ...item,
      filterText: insert?.startsWith('"') === true ? insert : item.label,
      textEdit: { range, newText: insert ?? item.label },
    }));
  }

  hover(
    uri: string,
    position: Position,
  ): { contents: { kind: MarkupKind; value: string }; range: Range } | null {
    const document = this.#find(uri);
    if (document === undefined) return null;
    const found = documentationAt(document.getText(), document.offsetAt(position), this.#names.all());
    if (found === undefined) return null;
    const range = rangeIn(document, found.start, found.end);
    return { contents: { kind: MarkupKind.Markdown, value: found.about }, range };
  }

  define(uri: string, position: Position): Location[] {
    const document = this.#find(uri);
    if (document === undefined) return [];
    const found = declarationsAt(document.getText(), document.offsetAt(position), this.#names.all());
    return found.map(({ file, start, end }) => {
      const target = this.#files.document(file);
      return { uri: target.uri, range: rangeIn(target, start, end) };
    });
  }

  outline(uri: string): DocumentSymbol[] {
    const document = this.#find(uri);
    return document === undefined
      ? []
      : outlineOf(document.getText()).map((each) => toSymbol(document, each));
  }

  /** Returns the change that `fmt` would make; none for a file with errors. */
  format(uri: string): TextEdit[] {
    const document = this.#find(uri);
    if (document === undefined) return [];
    const text = document.getText();
    const formatted = formatDefinitions(text, { isJson: /\.json$/i.test(uri) });
    if (formatted.type !== "formatted" || formatted.text === text) return [];
    return [{ range: rangeIn(document, 0, text.length), newText: formatted.text }];
  }

  /** Returns an open document of the directory, unless it is too large to be read. */
  #find(uri: string): TextDocument | undefined {
    const document = this.#documents.get(uri);
    if (document === undefined || document.getText().length > maxFileBytes) return undefined;
    return this.#files.pathOf(uri) === undefined ? undefined : document;
  }
}

const rangeIn = (document: TextDocument, start: number, end: number): Range => ({
  start: document.positionAt(start),
  end: document.positionAt(end),
});

function toSymbol(document: TextDocument, entry: OutlineEntry): DocumentSymbol {
  const { kind, name, detail, start, end, nameStart, nameEnd, children } = entry;
  return {
    kind: symbolKinds[kind],
    name,
    detail,
    range: rangeIn(document, start, end),
    selectionRange: rangeIn(document, nameStart, nameEnd),
    children: children.map((each) => toSymbol(document, each)),
  };
}

const symbolKinds: Readonly<Record<OutlineEntry["kind"], SymbolKind>> = {
  decision: SymbolKind.Class,
  branch: SymbolKind.EnumMember,
  section: SymbolKind.Namespace,
  item: SymbolKind.Property,
};
