import type { Definition } from "../model/definition.js";
import { isRouting } from "./decision-types.js";
import { readsMasked } from "./mask-pointers.js";

/** Why the answers of a definition must not be cached, whatever it says; undefined: they may. */
export function uncacheable(definition: Definition, reads: readonly string[]): string | undefined {
  const pointers = definition.logging?.mask ?? [];
  if (!isRouting(definition))
    return `only routing decisions are, and this is a \`${definition.type}\` decision`;
  if (reads.some(isTimeOfRequest)) return "it reads the time of the request, which never comes again";
  // A key made of masked values would tell them to whoever tries, and one without them would mix them up.
  const secret = reads.find((path) => readsMasked(path, pointers));
  return secret === undefined ? undefined : `it reads \`${secret}\`, which is masked`;
}

const isTimeOfRequest = (path: string): boolean => path === "system" || path.startsWith("system.");
