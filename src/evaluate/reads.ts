import type { Template } from "../expression/template.js";

/** All that an answer depends on; `input` stands for what its own expression reads. */
export function readsWith(input: Template | undefined, paths: readonly string[]): readonly string[] {
  const beside = paths.filter((path) => path !== "input" && !path.startsWith("input."));
  return [...new Set([...(input?.reads ?? ["context"]), ...beside])];
}
