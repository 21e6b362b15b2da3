import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compose } from "../../src/compose.js";
import type { AuthenticatedCaller } from "../../src/model/record.js";
import type { Invocation, ServedWorld } from "../../src/serve/operations/operation.js";
import { afterFile } from "../after-file.js";

export const samples = fileURLToPath(new URL("../../decisions", import.meta.url));

export const alice: AuthenticatedCaller = {
  subject: "alice",
  issuer: "https://id.example",
  scopes: ["decide", "report", "read", "audit"],
  delegated: false,
  actors: [],
};

/** The sample definitions with a store that is removed after the tests of the file. */
export async function sampleWorld(decisions = samples): Promise<ServedWorld> {
  const directory = mkdtempSync(join(tmpdir(), "agent-33-serve-"));
  const world = await compose({ decisions, store: { directory, durability: "fast" }, env: {} });
  const { records } = world;
  if (records === undefined) throw new Error("there is a store");
  afterFile(async () => {
    await world.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return { ...world, records };
}

export const invocationOf = (world: ServedWorld, more: Partial<Invocation> = {}): Invocation => ({
  world,
  caller: undefined,
  correlationId: undefined,
  ...more,
});
