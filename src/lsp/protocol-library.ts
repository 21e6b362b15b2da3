/** Everything used of the library. The build puts it in a separate file, which is loaded only to serve an editor. */
export {
  CompletionItemKind,
  createConnection,
  DiagnosticSeverity,
  DidChangeWatchedFilesNotification,
  MarkupKind,
  ProposedFeatures,
  SymbolKind,
  TextDocuments,
  TextDocumentSyncKind,
} from "vscode-languageserver/node.js";
export { TextDocument } from "vscode-languageserver-textdocument";
