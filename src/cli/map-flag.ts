import { DecisionError } from "../errors.js";
import { readContext } from "./input.js";
import type { Io } from "./io.js";

/** How what is given becomes the context; without a map it is the context. */
export type ToContext = (given: unknown) => unknown;

export async function readMap(map: string | undefined, io: Io): Promise<ToContext> {
  if (map === undefined) return (given) => given;
  if (map === "-") {
    throw new DecisionError("usage", "--map is not read from standard input", {
      hint: "give it as JSON or as @file; events come from standard input with --inputs -",
    });
  }
  const document = readContext(map, io, "--map");
  const { compileEventMap } = await import("../decide/event-map.js");
  return compileEventMap(document);
}
