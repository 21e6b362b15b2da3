import { describe, it } from "vitest";
import { circumstances, cutPower, losses } from "../store/power-cuts.js";

const rounds = process.env["AGENT33_TORTURE"] === "full" ? 100 : 6;

describe.each(circumstances)("power cuts (durability $durability, pruned: $prunes)", (circumstance) => {
  it.each(losses)(
    `leave a log that goes on by itself, ${rounds} × 3 times, where $name`,
    async ({ choose }) => {
      await cutPower(circumstance, choose, rounds);
    },
  );
});
