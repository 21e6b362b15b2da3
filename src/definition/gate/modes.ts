import type { Status, WorkMode } from "../../model/definition.js";

/** How an agent goes on after each status. */
export const modes: Readonly<Record<Status, WorkMode>> = {
  GREEN: "execute",
  "GREEN-SKIP": "skip",
  YELLOW: "review",
  RED: "stop",
};
