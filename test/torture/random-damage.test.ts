import { expect, it } from "vitest";
import { chance } from "../store/entries.js";
import { damageAtRandom, makeStore } from "../store/random-damage.js";

const changes = process.env["AGENT33_TORTURE"] === "full" ? 10_000 : 250;

it.each([{ pruned: false }, { pruned: true }])(
  `damage at random in ${changes} places never leads to a wrong answer without a warning (pruned: $pruned)`,
  async ({ pruned }) => {
    const run = await damageAtRandom(await makeStore({ pruned }), changes, chance);
    process.stdout.write(
      `random damage: ${run.tried} tried, ${run.reported} reported, ${run.silent.length} silent\n`,
    );
    expect(run.silent).toEqual([]);
  },
);
