import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Json } from "../../src/model/json.js";
import type { Store } from "../../src/model/store.js";
import { AnswerCache } from "../../src/record/answer-cache.js";
import { microsecondsOf, formatTimestamp } from "../../src/record/timestamp.js";
import { openJsonlStore } from "../../src/store/drivers/jsonl/store.js";
import { cacheAnswer, lookup } from "./cached-answers.js";
import { called, collect, decided, newId, noon, noted, sha256, TestClock } from "./entries.js";
import { openLog, storeDirectory } from "./jsonl-log.js";

const options = { segmentSize: 5000, checkpointEvery: 7 };
const start = microsecondsOf(noon);
const sessions = ["s-1", "s-2"];
const names = ["uses", "calls", '["called","s-1","deploy"]'];
const lockId = "lock-1";

/** The files of a store by path. */
type Snapshot = ReadonlyMap<string, Buffer>;

/** A store, its files, and an older copy of them. */
export interface DamagedStore {
  readonly directory: string;
  readonly files: Snapshot;
  readonly older: Snapshot;
  readonly answers: Answers;
}

/** An answer of each query, as JSON. */
type Answers = Readonly<Record<string, string>>;

/** Old enough that no file is newer than the head. */
const written = new Date("2020-01-01T00:00:00Z");
/** Newer than everything, so that the times of files do not show the damage. */
const future = new Date("2050-01-01T00:00:00Z");

/** Creates a store with every kind of file. */
export async function makeStore({ pruned }: { readonly pruned: boolean }): Promise<DamagedStore> {
  const directory = storeDirectory();
  await fill(directory, 0, 30);
  if (pruned) {
    const { log } = openLog(directory, options);
    await log.prune(await log.prunable({ keep: 20 }), noted);
  }
  await readAll(directory);
  const older = snapshot(directory);
  await fill(directory, 30, 50);
  for (const name of filesIn(directory)) utimesSync(join(directory, name), written, written);
  rmSync(join(directory, "log/index"), { recursive: true });
  await readAll(directory);
  const files = snapshot(directory);
  const { answers } = await readAll(directory);
  return { directory, files, older, answers };
}

async function fill(directory: string, from: number, to: number): Promise<void> {
  const store = openLog(directory, options);
  for (let at = from; at < to; at++) {
    const timestamp = formatTimestamp(start + at * 1000);
    const session_id = sessions[at % 2] ?? "";
    if (at % 5 === 4) {
      await store.log.append({ body: called({ timestamp, session_id }), counts: ["calls"] });
      continue;
    }
    const lineage = {
      entities: [{ type: "customer", id: `c-${at % 3}` }],
      artifacts: [`build-${at % 4}`],
    };
    await store.log.append({
      body: decided({
        timestamp,
        session_id,
        input: at % 6,
        decision_id: at % 3 === 0 ? "split" : "gate",
        selected_labels: [at % 2 === 0 ? "Pass" : "Fail"],
        lineage: lineage as never,
      }),
      ...(at % 2 === 0 && { counts: ["uses", names[2] ?? ""] }),
    });
  }
  await cacheAnswer(store);
  await store.shelf("responses").put([{ key: "response", value: { status: 200, body: "answer" } }]);
  await store.shelf("approvals").put([{ key: lockId, value: { serial: to, head: sha256(`lock ${to}`) } }]);
  await store.close();
}

function filesIn(directory: string, below = ""): readonly string[] {
  return readdirSync(join(directory, below), { withFileTypes: true }).flatMap((entry) => {
    const path = join(below, entry.name);
    if (entry.name === "lock") return [];
    return entry.isDirectory() ? filesIn(directory, path) : [path];
  });
}

const snapshot = (directory: string): Snapshot =>
  new Map(filesIn(directory).map((path) => [path, readFileSync(join(directory, path))]));

/** Restores all files, with times that show no change. */
function restore({ directory, files }: DamagedStore): void {
  for (const path of filesIn(directory)) if (!files.has(path)) rmSync(join(directory, path));
  for (const [path, bytes] of files) {
    const full = join(directory, path);
    mkdirSync(dirname(full), { recursive: true });
    if (!existsSync(full) || !readFileSync(full).equals(bytes)) writeFileSync(full, bytes);
    utimesSync(full, written, written);
  }
  utimesSync(join(directory, "log/head"), future, future);
}

interface Reading {
  readonly answers: Answers;
  /** The queries that failed or warned. */
  readonly reported: ReadonlySet<string>;
}

/** Asks everything, each query like a process of its own, in an order that differs from time to time. */
async function readAll(directory: string, first = 0): Promise<Reading> {
  const answers: Record<string, string> = {};
  const reported = new Set<string>();
  const ordered = Object.entries(queries);
  for (const [name, ask] of [...ordered.slice(first), ...ordered.slice(0, first)]) {
    const store = openJsonlStore({
      directory,
      clock: new TestClock().read,
      newId,
      onDamage: () => reported.add(name),
    });
    try {
      answers[name] = JSON.stringify((await ask(store)) ?? "missing");
    } catch {
      reported.add(name);
    } finally {
      await store.close().catch(() => undefined);
    }
  }
  return { answers, reported };
}

const texts = async (lines: Parameters<typeof collect>[0]): Promise<readonly string[]> =>
  (await collect(lines)).map(({ text, intact }) => (intact ? text : `${text} changed`));

const queries: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
  state: ({ log }) => log.state(),
  all: ({ log }) => texts(log.select({})),
  unindexed: ({ log }) => texts(log.select({ unindexed: true, decision_id: "gate" })),
  decision: ({ log }) => texts(log.select({ decision_id: "split", label: "Pass" })),
  newest: ({ log }) => texts(log.select({ decision_id: "gate", limit: 3, reverse: true })),
  session: ({ log }) => texts(log.select({ session_id: "s-1", since: start + 20_000 })),
  latest: ({ log }) => log.find({ latest: true }),
  number: ({ log }) => log.find({ seq: 40 }),
  tally: async ({ log }) => [await log.tally("gate", {}), await log.tally("split", {})],
  period: ({ log }) => log.tally("gate", { since: start + 25_000 }),
  entity: ({ log }) => texts(log.related({ entity: { type: "customer", id: "c-1" } }, { limit: 9 })),
  results: ({ log }) => texts(log.related({ session_id: "s-2" })),
  artifact: ({ log }) => texts(log.related({ artifact: "build-3" })),
  neighbours: async ({ log }) =>
    (await log.neighbours({ decision_id: "gate" }, [{ type: "customer", id: "c-2" }], 20)).map(
      ({ seq, shared, entities, labels, traits }) => ({ seq, shared, entities, labels, traits }),
    ),
  counters: ({ log }) => Promise.all(names.map((name) => log.counter(name))),
  cacheUse: ({ log }) => log.cacheUse(),
  prunable: ({ log }) => log.prunable({ before: start + 35_000 }),
  keeping: ({ log }) => log.prunable({ keep: 8 }),
  cached: async (store) => (await new AnswerCache(store, () => undefined).get("key", lookup))?.answer,
  response: async (store) => (await store.shelf("responses").get("response"))?.value,
  approvals: async (store) => (await store.shelf("approvals").get(lockId))?.value,
  definition: (store) =>
    contentOf(store, "definitions", sha256(JSON.stringify(`definition ${sha256("gate")}`))),
  environment: (store) => contentOf(store, "environments", sha256("{}")),
};

/** Reads a document by its hash; undefined if it was changed, as its readers do. */
async function contentOf(
  store: Store,
  shelf: "definitions" | "environments",
  hash: string,
): Promise<Json | undefined> {
  const value = (await store.shelf(shelf).get(hash))?.value;
  return value !== undefined && sha256(JSON.stringify(value)) === hash ? value : undefined;
}

/** Without these, the program evaluates, fetches or says that a document is missing. */
const replaceable = new Set(["cached", "response", "definition", "environment"]);

type Random = () => number;

const below = (random: Random, end: number): number => Math.floor(random() * end);

/** The kinds of damage; each returns the new bytes, or undefined to delete the file. */
const damages: Readonly<
  Record<string, (bytes: Buffer, random: Random, older: Buffer | undefined) => Buffer | undefined>
> = {
  "a flipped bit": (bytes, random) => {
    const at = below(random, bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << below(random, 8));
    return bytes;
  },
  "a truncation": (bytes, random) => bytes.subarray(0, below(random, bytes.length)),
  "a deletion": () => undefined,
  "swapped bytes": (bytes, random) => {
    const length = 1 + below(random, Math.min(64, bytes.length / 2));
    const [one, two] = [below(random, bytes.length - length), below(random, bytes.length - length)];
    const kept = Buffer.from(bytes.subarray(one, one + length));
    bytes.copy(bytes, one, two, two + length);
    kept.copy(bytes, two);
    return bytes;
  },
  "an older copy": (_, __, older) => older && Buffer.from(older),
  "a zeroed block": (bytes, random) => {
    const from = below(random, bytes.length);
    return bytes.fill(0, from, Math.min(bytes.length, from + 1 + below(random, 512)));
  },
  "an edited number": (bytes, random) => {
    const digits = [...bytes.entries()].filter(([, byte]) => byte >= 48 && byte <= 57);
    const [at = 0] = digits[below(random, digits.length)] ?? [];
    bytes[at] = 48 + below(random, 10);
    return bytes;
  },
};

/** Changes that someone makes on purpose, in several files. Each returns the new files; undefined deletes one. */
type Change = ReadonlyMap<string, Buffer | undefined>;
type Attack = (store: Pick<DamagedStore, "files" | "older">, random: Random) => Change;

const attacks: Readonly<Record<string, Attack>> = {
  "a head without a checksum": ({ files }, random) => {
    const head = { ...headIn(files), sum: undefined };
    const { size, head: hash, segment, bytes, checkpoint } = head;
    const edits = [
      { counters: "0".repeat(16) },
      { counters: undefined },
      { pruned: below(random, size) },
      { approvals: 0 },
    ];
    const earlier = {
      size,
      head: hash,
      segment,
      bytes,
      checkpoint: checkpoint && { ...checkpoint, end: undefined },
    };
    const edited = { ...head, ...edits[below(random, edits.length)] };
    return new Map([
      ["log/head", formatHead(random() < 0.5 ? edited : earlier)],
      ...withoutCounters(files, random),
    ]);
  },
  "an older head with older counters": ({ files, older }) =>
    rolledBack(files, older, (path) => path === "log/head" || path.startsWith("counters/")),
  "an older head with older approval locks": ({ files, older }) =>
    rolledBack(files, older, (path) => path === "log/head" || path.startsWith("approvals/")),
  "edited labels": ({ files }, random) =>
    new Map([
      editedLine(files, random, /"selected_labels":\["(?:Pass|Fail)"\]/, (text) =>
        text.includes("Pass") ? text.replace("Pass", "Fail") : text.replace("Fail", "Pass"),
      ),
      ...(random() < 0.5 ? matching(files, (path) => path.startsWith("log/index/")) : []),
    ]),
  "edited counts": ({ files }, random) =>
    new Map([
      editedLine(files, random, /"counted":\["[a-z]/, (text) => text.replace(/[a-z]$/, "x")),
      ...withoutCounters(files, random),
    ]),
  "a forged answer": ({ files }) => {
    const text = (files.get("cache/all.jsonl") ?? Buffer.alloc(0)).toString("latin1");
    return new Map([["cache/all.jsonl", Buffer.from(text.replaceAll('"Pass"', '"Fail"'), "latin1")]]);
  },
};

interface HeadFields {
  readonly size: number;
  readonly head: string;
  readonly segment: number;
  readonly bytes: number;
  readonly checkpoint?: { readonly size: number; readonly hash: string };
  readonly sum?: string;
}

const headIn = (files: Snapshot): HeadFields =>
  JSON.parse((files.get("log/head") ?? "").toString("latin1")) as HeadFields;

const formatHead = (head: object): Buffer => Buffer.from(`${JSON.stringify(head).padEnd(511)}\n`, "latin1");

/** Deletes the files that a test selects. */
const matching = (files: Snapshot, isDeleted: (path: string) => boolean): [string, undefined][] =>
  [...files.keys()].filter(isDeleted).map((path) => [path, undefined]);

const withoutCounters = (files: Snapshot, random: Random): [string, undefined][] =>
  random() < 0.5 ? matching(files, (path) => path.startsWith("counters/")) : [];

/** Replaces files by their older copies, and deletes those that did not exist. */
const rolledBack = (files: Snapshot, older: Snapshot, isReplaced: (path: string) => boolean): Change =>
  new Map([...files.keys()].filter(isReplaced).map((path) => [path, older.get(path)]));

/** Edits a random occurrence of a text in the segments, without changing its length. */
function editedLine(
  files: Snapshot,
  random: Random,
  pattern: RegExp,
  edit: (text: string) => string,
): [string, Buffer] {
  const found = [...files].flatMap(([path, bytes]) =>
    /^log\/\d+\.jsonl$/.test(path)
      ? [...bytes.toString("latin1").matchAll(new RegExp(pattern, "g"))].map(({ index, 0: text }) => ({
          path,
          index,
          text,
        }))
      : [],
  );
  const { path, index, text } = found[below(random, found.length)] ?? { path: "", index: 0, text: "" };
  const bytes = Buffer.from(files.get(path) ?? "");
  bytes.write(edit(text), index, "latin1");
  return [path, bytes];
}

export interface DamageRun {
  readonly tried: number;
  /** Changes that had no effect on the bytes are not counted. */
  readonly silent: readonly string[];
  /** The number of changes after which a query failed or warned. */
  readonly reported: number;
}

/** How often several files are changed on purpose, and not one by accident. */
const attackShare = 0.2;

/** Damages one file by accident, or several on purpose, asks everything, and compares with the right answers. */
export async function damageAtRandom(
  store: DamagedStore,
  changes: number,
  random: Random,
): Promise<DamageRun> {
  const { directory, files, answers } = store;
  const paths = [...files.keys()];
  const silent: string[] = [];
  let tried = 0;
  let reported = 0;
  restore(store);
  while (tried < changes) {
    const { kind, change } =
      random() < attackShare ? attack(store, random) : damageFile(store, paths, random);
    if (change.size === 0) continue;
    tried++;
    for (const [path, after] of change) {
      const full = join(directory, path);
      if (after === undefined) rmSync(full);
      else writeFileSync(full, after);
      // The head stays the newest file.
      if (after !== undefined && path !== "log/head") utimesSync(full, written, written);
      else if (after !== undefined) utimesSync(full, future, future);
    }
    // Bit rot changes no time, an editor does.
    const isTimeKept = random() < 0.5;
    if (!isTimeKept && existsSync(join(directory, "log/head")))
      utimesSync(join(directory, "log/head"), written, written);
    const reading = await readAll(directory, below(random, Object.keys(queries).length));
    const wrong = Object.keys(queries).filter((name) => {
      const answer = reading.answers[name];
      if (reading.reported.has(name) || answer === answers[name]) return false;
      return !(replaceable.has(name) && answer === '"missing"');
    });
    if (wrong.length > 0) silent.push(`${kind} in ${[...change.keys()].join(", ")}: ${wrong.join(", ")}`);
    if (reading.reported.size > 0) reported++;
    restore(store);
  }
  return { tried, silent, reported };
}

interface NamedChange {
  readonly kind: string;
  readonly change: Change;
}

function attack(store: DamagedStore, random: Random): NamedChange {
  const kinds = Object.entries(attacks);
  const [kind, make] = kinds[below(random, kinds.length)] ?? ["", () => new Map<string, undefined>()];
  return { kind, change: make(store, random) };
}

/** Damages a random file; a change that has no effect on its bytes is none. */
function damageFile({ files, older }: DamagedStore, paths: readonly string[], random: Random): NamedChange {
  const path = paths[below(random, paths.length)] ?? "";
  const kinds = Object.keys(damages);
  const kind = kinds[below(random, kinds.length)] ?? "";
  const before = files.get(path) ?? Buffer.alloc(0);
  const after = damages[kind]?.(Buffer.from(before), random, older.get(path));
  const isSame = before.length === 0 || after?.equals(before);
  return { kind, change: isSame === true ? new Map<string, undefined>() : new Map([[path, after]]) };
}
