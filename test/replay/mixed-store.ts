import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { main } from "../../src/cli/main.js";
import type { Composed } from "../../src/compose.js";
import { compose } from "../../src/compose.js";
import { DecisionError } from "../../src/errors.js";
import type { LogRecord } from "../../src/model/record.js";
import type { ReplayReport } from "../../src/replay/replay-log.js";
import { fakeIo } from "../cli/fake-io.js";
import { definitions, guardrails } from "./mixed-definitions.js";
import type { Asked } from "./mixed-requests.js";
import { requestAt, unreplayableAt } from "./mixed-requests.js";

/** A log of decisions of all types, the definitions that made it, and a cache of these. */
export interface MixedStore {
  readonly directory: string;
  readonly decisions: string;
  readonly cacheHome: string;
}

const together = 120;

interface Extent {
  /** Of the log. */
  readonly lines: number;
  /** So many more cannot be replayed. */
  readonly unreplayable: number;
  readonly segmentSize?: number;
}

/** Makes decisions, one kind after the other, until the log is long enough. */
export async function mixedStore({ lines, unreplayable, segmentSize }: Extent): Promise<MixedStore> {
  const root = mkdtempSync(join(tmpdir(), "agent-33-mixed-"));
  const places = {
    directory: join(root, "store"),
    decisions: join(root, "decisions"),
    cacheHome: join(root, "cache"),
  };
  mkdirSync(places.decisions);
  for (const decision of definitions) {
    writeFileSync(join(places.decisions, `${String(decision["id"])}.json`), JSON.stringify({ decision }));
  }
  writeFileSync(join(places.decisions, "guardrails.json"), JSON.stringify({ guardrails }));
  const store = {
    directory: places.directory,
    durability: "fast",
    ...(segmentSize && { segmentSize }),
  } as const;
  const world = await compose({ ...places, store });
  for (let asked = 0; asked < lines; asked += together) {
    await Promise.all(Array.from({ length: together }, (_, index) => ask(requestAt(asked + index), world)));
  }
  for (let index = 0; index < unreplayable; index++) await ask(unreplayableAt(index), world);
  await world.close();
  return places;
}

/** Some end in an error by design, and are not recorded. */
async function ask(asked: Asked, world: Composed): Promise<void> {
  try {
    if ("decide" in asked) await world.decide(asked.decide);
    else if ("check" in asked) await world.check(asked.check);
    else await world.recordToolResult(asked.result);
  } catch (error) {
    if (!(error instanceof DecisionError)) throw error;
  }
}

export async function recordsOf({ directory, decisions }: MixedStore): Promise<readonly LogRecord[]> {
  const { records } = await compose({ decisions, store: { directory } });
  const all: LogRecord[] = [];
  for await (const { record } of records?.log.select({}) ?? []) all.push(record);
  return all;
}

export interface ReplayedAll {
  readonly code: number;
  readonly report: ReplayReport;
  readonly err: string;
}

/** What `replay --all` says of a store. */
export async function replayAll(
  { directory, decisions, cacheHome }: MixedStore,
  ...more: readonly string[]
): Promise<ReplayedAll> {
  const env = { AGENT33_STORE: directory, AGENT33_DECISIONS: decisions, AGENT33_CACHE: cacheHome };
  const io = fakeIo({ env });
  const code = await main(["decision", "replay", "--all", "--json", ...more], io);
  return { code, report: JSON.parse(io.written.out) as ReplayReport, err: io.written.err };
}
