import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { Workplace } from "./workspace.js";
import { workplace } from "./workspace.js";

const id = "decision-ab-prompt-variant";

let place: Workplace;
beforeEach(() => {
  place = workplace();
});

const ask = (request: string, ...words: readonly string[]): ReturnType<Workplace["run"]> =>
  place.run([
    "evaluate",
    id,
    "--input",
    JSON.stringify({ request: { id: request } }),
    "--format",
    "target",
    ...words,
  ]);

const statusOf = async (): Promise<object> =>
  JSON.parse((await place.run(["cache", "status"])).out) as object;

describe("the cache", () => {
  it("shows its entries and hit rate", async () => {
    for (const request of ["a", "a", "b"]) await ask(request);
    await ask("a", "--no-cache");
    expect(await statusOf()).toMatchObject({ entries: 2, live: 2, expired: 0, hits: 1, misses: 2 });
  });

  it("removes the results of one decision and prints their number", async () => {
    for (const request of ["a", "b"]) await ask(request);
    const { code, out } = await place.run(["cache", "invalidate", id]);
    expect({ code, removed: JSON.parse(out) as object }).toEqual({
      code: 0,
      removed: { decision_id: id, removed: 2 },
    });
    expect(JSON.parse((await place.run(["cache", "invalidate", id])).out)).toEqual({
      decision_id: id,
      removed: 0,
    });
  });

  it("rejects an id that is neither defined nor cached", async () => {
    const { code, out, err } = await place.run(["cache", "invalidate", "decision-ab-prompt-varient"]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(`did you mean \`${id}\`?`);
  });

  it("is cleared only after confirmation", async () => {
    await ask("a");
    expect((await place.run(["cache", "clear"], { stdin: "" })).code).toBe(2);
    expect(await statusOf()).toMatchObject({ entries: 1 });
    expect(JSON.parse((await place.run(["cache", "clear", "--yes"])).out)).toEqual({ removed: 1 });
    expect(await statusOf()).toMatchObject({ entries: 0 });
  });

  it("ignores an entry that was edited", async () => {
    const { out } = await ask("u");
    const file = join(place.store, "cache/all.jsonl");
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(out.trim(), "stage-evil"));
    const second = await ask("u");
    expect(second.out).toBe(out);
    expect(second.err).toContain("warning: ignored a cached answer that was changed in the store");
  });
});

describe("a store that is named and not there", () => {
  const nowhere = (): string => join(place.root, "nowhere");

  it.each([["log"], ["cache", "status"], ["distribution", id]])(
    "is empty to %s %s, with a warning",
    async (...words) => {
      const { code, err } = await place.run([...words, "--store", nowhere()]);
      expect(code).toBe(0);
      expect(err).toContain(`warning: no store found in \`${nowhere()}\``);
      expect(existsSync(nowhere())).toBe(false);
    },
  );

  it.each([
    ["verify"],
    ["export"],
    ["prune", "--keep", "1", "--yes"],
    ["cache", "clear", "--yes"],
    ["cache", "invalidate", id],
  ])("is refused by %s %s", async (...words) => {
    const { code, out, err } = await place.run([...words, "--store", nowhere()]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("no store found in");
    expect(existsSync(nowhere())).toBe(false);
  });
});
