import { expect, it } from "vitest";
import { chance } from "./entries.js";
import { damageAtRandom, makeStore } from "./random-damage.js";

it.each([{ pruned: false }, { pruned: true }])(
  "damage at random never leads to a wrong answer without a warning (pruned: $pruned)",
  async ({ pruned }) => {
    const { silent, reported } = await damageAtRandom(await makeStore({ pruned }), 40, chance);
    expect(silent).toEqual([]);
    expect(reported).toBeGreaterThan(0);
  },
);
