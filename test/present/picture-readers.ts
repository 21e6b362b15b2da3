import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { runInThisContext } from "node:vm";
import { Graphviz } from "@hpcc-js/wasm-graphviz";

const require = createRequire(import.meta.url);

/** A diagram as a drawing program understood it. */
export interface ReadPicture {
  readonly nodes: readonly string[];
  readonly edges: readonly { readonly from: number; readonly to: number; readonly text: string }[];
}

interface FlowchartData {
  getVertices(): ReadonlyMap<string, { readonly text: string }>;
  getEdges(): readonly { readonly start: string; readonly end: string; readonly text: string }[];
}

interface Mermaid {
  parse(text: string): Promise<{ readonly diagramType: string }>;
  readonly mermaidAPI: {
    getDiagramFromText(text: string): Promise<{ readonly db: FlowchartData }>;
  };
}

interface Element {
  innerHTML: string;
  readonly textContent: string;
  querySelectorAll(selector: string): Iterable<Element>;
}

interface Browser {
  readonly window: { readonly document: Element & { readonly body: Element } };
}

const { JSDOM } = require("jsdom") as {
  readonly JSDOM: new (text: string, options?: { readonly contentType: string }) => Browser;
};

let browser: Browser | undefined;

/** Mermaid is a browser script: it needs a document and sets a global variable. */
function openMermaid(): { readonly mermaid: Mermaid; readonly body: Element } {
  if (browser === undefined) {
    browser = new JSDOM("");
    Object.assign(globalThis, { window: browser.window, document: browser.window.document });
    runInThisContext(readFileSync(require.resolve("@mermaid-js/tiny"), "utf8"));
  }
  const { mermaid } = globalThis as unknown as { readonly mermaid: Mermaid };
  return { mermaid, body: browser.window.document.body };
}

/** Renders a flowchart with Mermaid, and reads its labels as a browser shows them. */
export async function readMermaid(text: string): Promise<ReadPicture> {
  const { mermaid, body } = openMermaid();
  const { diagramType } = await mermaid.parse(text);
  if (diagramType !== "flowchart-v2") throw new Error(`mermaid takes it for ${diagramType}`);
  const { db } = await mermaid.mermaidAPI.getDiagramFromText(text);
  const shown = (label: string): string => {
    const entities = label.replace(/ﬂ°°/g, "&#").replace(/ﬂ°/g, "&").replace(/¶ß/g, ";");
    body.innerHTML = entities.replace(/<br *\/?>/g, "\n");
    return body.textContent;
  };
  const names = [...db.getVertices().keys()];
  return {
    nodes: [...db.getVertices().values()].map((vertex) => shown(vertex.text)),
    edges: db.getEdges().map((edge) => ({
      from: names.indexOf(edge.start),
      to: names.indexOf(edge.end),
      text: shown(edge.text),
    })),
  };
}

let graphviz: Graphviz | undefined;

/** Renders a digraph with Graphviz, and reads the picture. Empty lines are not drawn. */
export async function readDot(text: string): Promise<ReadPicture> {
  graphviz ??= await Graphviz.load();
  const svg = graphviz.layout(text, "svg", "dot");
  const { document } = new JSDOM(svg, { contentType: "image/svg+xml" }).window;
  const textOf = (drawn: Element, part: string): string =>
    [...drawn.querySelectorAll(part)].map(({ textContent }) => textContent).join("\n");
  const nodes = [...document.querySelectorAll("g.node")];
  const names = nodes.map((node) => textOf(node, "title"));
  return {
    nodes: names
      .map((_name, index) => nodes[names.indexOf(`n${index}`)])
      .map((node) => (node === undefined ? "it is missing" : textOf(node, "text"))),
    edges: [...document.querySelectorAll("g.edge")].map((edge) => {
      const [from = "", to = ""] = textOf(edge, "title").split("->");
      return { from: Number(from.slice(1)), to: Number(to.slice(1)), text: textOf(edge, "text") };
    }),
  };
}
