import { expect, it } from "vitest";
import { appendWithRoom } from "../store/limited-space.js";
import { expectRepairs } from "../store/torn-tails.js";

const step = process.env["AGENT33_TORTURE"] === "full" ? 1 : 37;

it.each([0, 1, 2, 3])(
  `goes on once there is room again, at every ${step} bytes of it, having %i records before`,
  async (before) => {
    for (let room = 0; room < 2600; room += step) await appendWithRoom(before, room);
  },
);

it(`puts half a line aside that is cut at every ${step} bytes`, async () => {
  expect(await expectRepairs(step)).toBeGreaterThan(10);
});
