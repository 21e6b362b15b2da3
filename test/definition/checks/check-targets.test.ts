import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { declaredTargets } from "../../../src/definition/definition-file.js";
import type { Library } from "../../../src/definition/library.js";
import { buildLibrary } from "../../../src/definition/library.js";
import type { LocatedDefinition } from "../../../src/definition/read-definitions.js";
import { readDefinitions } from "../../../src/definition/read-definitions.js";
import { reviewTargets } from "../../../src/definition/reviews/review-directory.js";
import { cycleText, findCycles } from "../../../src/definition/cycles.js";
import type { Diagnostic } from "../../../src/model/diagnostic.js";

const brief = ({ file, line, column, severity, message, hint }: Diagnostic): string =>
  `${file}:${line}:${column} ${severity} ${message}${hint === undefined ? "" : ` | ${hint}`}`;

interface Read {
  readonly library: Library;
  /** Errors first, then what a reviewer would ask. */
  readonly said: readonly string[];
}

/** Files called `0.yaml`, `1.yaml` and so on. */
function read(...texts: readonly string[]): Read {
  const located: LocatedDefinition[] = [];
  const files = texts.map((text, index) => {
    return readDefinitions(`${index}.yaml`, Buffer.from(text), (each) => located.push(each)).summary;
  });
  const definitions = located.map(({ definition }) => definition);
  const library = buildLibrary(files, (file, position) => {
    const found = definitions.filter((_each, index) => located[index]?.file === file)[position];
    return found === undefined ? Promise.reject(new Error("no body")) : Promise.resolve(found);
  });
  const reviewed = reviewTargets(declaredTargets(files) ?? [], located);
  return { library, said: [...library.diagnostics, ...reviewed].map(brief) };
}

const leading = (id: string, target: string, otherwise = "z"): string => `decision:
  id: ${id}
  type: switch
  cases:
    - { condition: "a == 1", target: ${target}, label: One }
  default: { target: ${otherwise} }
`;

interface Case {
  readonly name: string;
  readonly files: readonly string[];
  readonly said: readonly string[];
}

const cases: readonly Case[] = [
  {
    name: "nothing where targets are written as text and as maps, and depend on each other and on a decision",
    files: [leading("d", "t"), "targets: [z, { id: t, kind: stage, depends_on: [z, d], disabled: false }]"],
    said: [],
  },
  {
    name: "a dependency that is not declared, with the one that is meant",
    files: ["targets:\n  - stage-build\n  - id: stage-deploy\n    depends_on: [stage-biuld]\n"],
    said: [
      "0.yaml:4:18 error `stage-deploy` depends on `stage-biuld`, which is not declared under `targets` | did you mean `stage-build`?",
    ],
  },
  {
    name: "a dependency that is like nothing that is declared",
    files: ["targets: [{ id: a, depends_on: [b, nowhere] }, b]"],
    said: [
      "0.yaml:1:36 error `a` depends on `nowhere`, which is not declared under `targets` | add it under `targets:`",
    ],
  },
  {
    name: "a target that depends on itself",
    files: ["targets: [{ id: a, depends_on: [a] }]"],
    said: ["0.yaml:1:33 error `a` depends on itself"],
  },
  {
    name: "targets of several files that depend on each other, once, with the way round",
    files: [
      "targets: [{ id: a, depends_on: [z, b] }, z]",
      "targets: [{ id: b, depends_on: [c] }, { id: c, depends_on: [z, a] }]",
    ],
    said: ["0.yaml:1:36 error `a` depends on itself: `a` → `b` → `c` → `a`"],
  },
  {
    name: "each circle of dependencies, where there are several",
    files: [
      "targets: [{ id: a, depends_on: [b] }, { id: b, depends_on: [a, c] }, { id: c, depends_on: [d] }, { id: d, depends_on: [c] }]",
    ],
    said: [
      "0.yaml:1:92 error `c` depends on itself: `c` → `d` → `c`",
      "0.yaml:1:33 error `a` depends on itself: `a` → `b` → `a`",
    ],
  },
  {
    name: "a target that is declared in two ways, in the later place",
    files: [
      "targets: [a, { id: b, kind: stage }]",
      "targets:\n  - { id: a, disabled: true }\n  - { id: b, kind: workflow }\n",
    ],
    said: [
      "1.yaml:2:11 error the target `a` is declared differently in 0.yaml:1 | declare it once",
      "1.yaml:3:11 error the target `b` is declared differently in 0.yaml:1 | declare it once",
    ],
  },
  {
    name: "a target that is declared in two ways in one list",
    files: ["targets: [{ id: a, kind: stage }, { id: a, kind: workflow }]"],
    said: ["0.yaml:1:41 error the target `a` is declared differently in 0.yaml:1 | declare it once"],
  },
  {
    name: "nothing where a target is declared twice with the same facts",
    files: [
      "targets: [a, b, { id: c, depends_on: [a, b] }]",
      "targets: [{ id: a, disabled: false }, { id: c, depends_on: [b, a] }]\n---\ntargets: [a]",
    ],
    said: [],
  },
  {
    name: "every case and default that leads to a disabled target",
    files: [
      `${leading("d", "t", "t")}---\ntargets:\n  - { id: t, disabled: true }\n`,
      'decision:\n  id: s\n  type: scored\n  evaluators: [{ name: e, static: { decision: approve, weight: 1, reason: "r" } }]\n  scoring: { strategy: max_weight }\n  targets: { approve: t }\n',
    ],
    said: [
      "0.yaml:5:38 warning `One` leads to `t`, which is disabled",
      "0.yaml:6:22 warning `default` leads to `t`, which is disabled",
      "1.yaml:6:23 warning `approve` leads to `t`, which is disabled",
    ],
  },
  {
    name: "a target that depends on a disabled one, unless it is disabled itself",
    files: [
      "targets: [{ id: off, disabled: true }, { id: a, depends_on: [off] }, { id: b, depends_on: [off], disabled: true }]",
    ],
    said: ["0.yaml:1:62 warning `a` depends on `off`, which is disabled"],
  },
  {
    name: "decisions that lead round in a circle, once",
    files: [leading("b", "c"), leading("c", "a"), leading("a", "b", "a")],
    said: [
      "0.yaml:5:38 warning decisions form a cycle: `b` → `c` → `a` → `b` | `--follow` ends in an error there",
    ],
  },
  {
    name: "a decision that leads back to itself",
    files: [leading("a", "t", "a")],
    said: ["0.yaml:6:22 warning `a` leads back to itself | `--follow` ends in an error there"],
  },
  {
    name: "no circle where two ways lead to the same decision",
    files: [leading("a", "b", "c"), leading("b", "d"), leading("c", "d"), leading("d", "t")],
    said: [],
  },
];

describe("targets", () => {
  it.each(cases)("reports $name", ({ files, said }) => {
    expect(read(...files).said).toEqual(said);
  });

  it("keeps only the decisions that lead to a wrongly declared target from being used", async () => {
    const { library } = read(
      leading("touched", "a", "b"),
      leading("untouched", "b", "b"),
      "targets: [{ id: a, depends_on: [nowhere] }, b]",
    );
    expect(library.ids).toEqual(["untouched"]);
    await expect(library.find("untouched")).resolves.toMatchObject({ definition: { id: "untouched" } });
    await expect(library.find("touched")).rejects.toMatchObject({
      code: "definition_invalid",
      details: { problems: [{ file: "2.yaml", line: 1, column: 33 }] },
    });
  });

  it.each([
    ["as a list", "targets: [t, z, 7]"],
    ["a line each", "targets:\n  - t\n  - z\n  - { id: a, knd: stage }\n"],
    ["as JSON", '{\n  "targets": ["t", "z", 7]\n}'],
    ["under a misspelt key", "targest: [t, z]"],
    ["in what is no YAML", "targets: [t, z\n"],
  ])("takes no target for unknown that a broken file may declare %s", (_how, broken) => {
    const { library, said } = read(leading("d", "t"), "targets: [a]", broken);
    expect(library.ids).toEqual(["d"]);
    expect(said.filter((each) => !each.startsWith("2.yaml"))).toEqual([]);
    expect(said).not.toEqual([]);
  });

  it("still knows what is unknown where another broken file declares no targets", () => {
    const { library, said } = read(
      leading("d", "t"),
      "targets: [z]",
      leading("e", "z").replace("type", "tpye"),
    );
    expect(library.ids).toEqual([]);
    expect(said[0]).toContain("2.yaml");
    expect(said).toContain(
      "0.yaml:5:38 error the target `t` is not declared under `targets` | add it under `targets:`",
    );
  });

  it("takes a decision in a broken file for one that may be led to", () => {
    const { library } = read(leading("d", "e"), "targets: [z]", leading("e", "z").replace("type", "tpye"));
    expect(library.ids).toEqual(["d"]);
  });

  it("are known to the library, each once, as they are declared", () => {
    const { library } = read("targets: [a, { id: b, kind: workflow, disabled: true }]", "targets: [a]");
    expect(library.targets).toEqual([{ id: "a" }, { id: "b", kind: "workflow", disabled: true }]);
  });

  it("are part of the environment of a decision without the places where they stand", async () => {
    const { library } = read(
      leading("d", "t"),
      "targets: [z, unused, { id: t, kind: stage, depends_on: [z] }]",
    );
    const { environment } = await library.find("d");
    expect(environment).toEqual({ targets: [{ id: "z" }, { id: "t", kind: "stage", depends_on: ["z"] }] });
  });
});

describe("ways round", () => {
  const names = fc.integer({ min: 0, max: 7 }).map(String);
  const graphs = fc.array(fc.tuple(names, fc.array(names, { maxLength: 3 })), { maxLength: 8 });

  it("are ways of the graph that end where they begin, and there are none exactly where nothing returns", () => {
    fc.assert(
      fc.property(graphs, (entries) => {
        const leads = new Map(entries);
        const ways = findCycles(leads);
        for (const way of ways) {
          expect(way.at(-1)).toBe(way[0]);
          expect(new Set(way).size).toBe(way.length - 1);
          for (const [index, name] of way.slice(0, -1).entries()) {
            expect(leads.get(name)).toContain(way[index + 1]);
          }
        }
        const returning = [...leads.keys()].filter((name) => reaches(name, name, leads));
        for (const name of returning) {
          const sameGroup = (way: readonly string[]): boolean =>
            reaches(name, way[0] ?? "", leads) && reaches(way[0] ?? "", name, leads);
          expect(ways.filter(sameGroup)).toHaveLength(1);
        }
        if (returning.length === 0) expect(ways).toEqual([]);
      }),
    );
  });

  it("are shown with their first and last names if they are long", () => {
    const names = (last: number): readonly string[] => [...Array(last).keys(), 0].map(String);
    const inFull = Array.from({ length: 11 }, (_, index) => `\`${index}\` → `).join("");
    expect(cycleText(names(11))).toBe(`${inFull}\`0\``);
    expect(cycleText(names(100))).toBe(`${inFull.replace("`10` → ", "")}90 more → \`0\``);
  });

  it("are found at the end of a very long chain", () => {
    const last = 100_000;
    const chain = new Map(
      Array.from({ length: last + 1 }, (_, index) => [
        String(index),
        [String(index === last ? last - 1 : index + 1)],
      ]),
    );
    expect(findCycles(chain)).toEqual([[String(last - 1), String(last), String(last - 1)]]);
  });
});

function reaches(from: string, to: string, leads: ReadonlyMap<string, readonly string[]>): boolean {
  const seen = new Set<string>();
  const queue = [...(leads.get(from) ?? [])];
  for (const name of queue) {
    if (name === to) return true;
    if (seen.has(name)) continue;
    seen.add(name);
    queue.push(...(leads.get(name) ?? []));
  }
  return false;
}
