import { once } from "node:events";
import { expect, it } from "vitest";
import { checkByCommand, checkInProcess, savedPolicy, serveSaved } from "../serve/saving-races.js";

const checks = process.env["AGENT33_TORTURE"] === "full" ? 2_000 : 200;

it(`no call is allowed in ${checks} checks of a policy that is saved every 20 ms, in one process`, async () => {
  const place = savedPolicy();
  await place.whileSaving(async () => {
    expect(await checkInProcess(place, checks)).not.toHaveProperty("exit 0");
  });
});

it(`no call is allowed in ${checks} checks with a process each`, async () => {
  const place = savedPolicy();
  await place.whileSaving(async () => {
    expect(await checkByCommand(place, checks)).not.toHaveProperty("exit 0");
  });
});

it(`no call is allowed, and nothing is missing, in ${checks} checks over HTTP with SIGHUP`, async () => {
  const place = savedPolicy();
  const server = await serveSaved(place);
  await place.whileSaving(async () => {
    expect(await server.check(checks)).toEqual({ "200 denied": checks, [`shown 200`]: checks });
  });
  server.child.kill("SIGTERM");
  await once(server.child, "exit");
});
