import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./command.js";

export interface Block {
  readonly name: string;
  /** The server that the page has told to start: that of the samples, or ours. */
  readonly beside: "sample-server" | "serve" | undefined;
  readonly commands: readonly { readonly line: string; readonly shown: readonly string[] }[];
}

/**
 * The ```console blocks of a page: `$ command`, then what is seen; `…` stands for anything within a line. Those
 * marked as ```console sample-server or ```console serve are typed beside that server.
 */
export function consoleBlocks(page: string): readonly Block[] {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/```console(?: (sample-server|serve))?\n([\s\S]*?)```/g)].map((found, index) => {
    const commands: { line: string; shown: string[] }[] = [];
    for (const line of (found[2] ?? "").trimEnd().split("\n")) {
      if (line.startsWith("$ ")) commands.push({ line: line.slice(2), shown: [] });
      else commands.at(-1)?.shown.push(line);
    }
    const name = `${page} #${index + 1}: ${commands[0]?.line.slice(0, 60) ?? ""}`;
    return { name, beside: found[1] as Block["beside"], commands };
  });
}
