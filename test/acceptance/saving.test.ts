import { once } from "node:events";
import { truncateSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { checkByCommand, checkInProcess, savedPolicy, serveSaved } from "../serve/saving-races.js";

describe("a policy that is being saved", () => {
  it("allows no call on the command line", async () => {
    const place = savedPolicy();
    await place.whileSaving(async () => {
      expect(await checkInProcess(place, 100)).not.toHaveProperty("exit 0");
      expect(await checkByCommand(place, 4)).not.toHaveProperty("exit 0");
    });
  });

  it("allows no call over HTTP, is always found, and stays in use when it is left empty", async () => {
    const place = savedPolicy();
    const server = await serveSaved(place);
    await place.whileSaving(async () => {
      expect(await server.check(200)).toEqual({ "200 denied": 200, "shown 200": 200 });
    });
    truncateSync(place.file);
    await server.logs("it has new problems");
    expect(await server.check(1)).toEqual({ "200 denied": 1, "shown 200": 1 });
    server.child.kill("SIGTERM");
    await once(server.child, "exit");
  });
});
