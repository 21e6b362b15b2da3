import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./command.js";

/** A command of a page and the output that the page shows below it. */
export interface PageCommand {
  readonly line: string;
  readonly shown: readonly string[];
}

/** A ```console block. */
export interface Block {
  readonly name: string;
  /** The server that must run while the block is typed: that of the samples, or ours. */
  readonly beside: "sample-server" | "serve" | undefined;
  readonly commands: readonly PageCommand[];
  /** Where its content is in the text of the page. */
  readonly start: number;
  readonly end: number;
}

/** A block whose first line is a comment with a path: the reader saves it there. */
export interface PageFile {
  readonly path: string;
  readonly text: string;
  readonly start: number;
}

export interface Page {
  readonly page: string;
  readonly text: string;
  readonly blocks: readonly Block[];
  readonly files: readonly PageFile[];
  /** Whether the reader is in a clone, with the samples in `decisions/`. */
  readonly hasSamples: boolean;
}

/** A fenced block of a page. */
interface Fence {
  readonly info: string;
  readonly content: string;
  readonly start: number;
}

export const fences = (text: string): readonly Fence[] =>
  [...text.matchAll(/^```(\S.*)?\n([\s\S]*?)^```$/gm)].map((found) => ({
    info: found[1] ?? "",
    content: found[2] ?? "",
    start: found.index + found[0].indexOf("\n") + 1,
  }));

/**
 * Reads a page. In a ```console block, `$ command` is typed (a line that ends in \ goes on in the next one) and
 * the lines below it are its output, where `…` stands for anything within a line, and a line of its own for any
 * number of lines. ```console sample-server and ```console serve need that server.
 */
export function readPage(page: string): Page {
  const text = readFileSync(join(root, page), "utf8");
  const all = fences(text);
  const blocks = all.flatMap(({ info, content, start }, index) => {
    const [, beside] = /^console(?: (sample-server|serve))?$/.exec(info) ?? [];
    if (!info.startsWith("console")) return [];
    const commands = commandsOf(content);
    const name = `${page} #${index + 1}: ${commands[0]?.line.slice(0, 60) ?? ""}`;
    return [{ name, beside: beside as Block["beside"], commands, start, end: start + content.length }];
  });
  const files = all.flatMap(({ content, start }) => {
    const path = /^(?:#|\/\/) (\S+\.\w+)\n/.exec(content)?.[1];
    return path === undefined ? [] : [{ path, text: content, start }];
  });
  return { page, text, blocks, files, hasSamples: text.includes("<!-- test: samples -->") };
}

export const consoleBlocks = (page: string): readonly Block[] => readPage(page).blocks;

function commandsOf(content: string): readonly PageCommand[] {
  const commands: { line: string; shown: string[] }[] = [];
  for (const line of content.trimEnd().split("\n")) {
    const last = commands.at(-1);
    if (line.startsWith("$ ")) commands.push({ line: line.slice(2), shown: [] });
    else if (last?.shown.length === 0 && last.line.endsWith("\\")) last.line += `\n${line}`;
    else last?.shown.push(line);
  }
  return commands;
}
