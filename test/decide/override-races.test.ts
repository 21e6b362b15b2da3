import { expect, it } from "vitest";
import { calls, overrides, race } from "./override-races.js";

it("applies an override as often as it may be, however many processes ask at once", async () => {
  const { winners } = await race({ prize: overrides(40), processes: 4, checks: 40 });
  expect(winners).toBeGreaterThan(1);
}, 180_000);

it.each([
  ["applies an override", overrides(40)],
  ["applies two overrides together", overrides(40, 30)],
  ["allows calls of a session", calls(30, "session")],
  ["allows calls of an hour", calls(30, "1h")],
])(
  "%s as often as may be though the processes are killed at any moment",
  async (_, prize) => {
    const { kills, killsInTime } = await race({ prize, processes: 4, checks: 30, kills: 2 });
    expect(kills).toBe(8);
    expect(killsInTime).toBeGreaterThan(0);
  },
  180_000,
);
