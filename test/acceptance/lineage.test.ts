import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { readDot, readMermaid } from "../present/picture-readers.js";
import { root, run, temporaryDirectory } from "./command.js";
import { hasTerminal, noTerminal, typed } from "./terminal.js";

const place = temporaryDirectory();
const store = join(place, "store");
const hostile = 'build "42" [x] & <y>; end\\';

const definition = `decision:
  id: ship
  type: binary
  artifacts: ["{{ artifact.id }}"]
  entities: [{ type: customer, id: "{{ customer }}" }]
  cases:
    - { condition: "artifact.score >= 0.8", target: stage-deploy, label: Pass }
  default: { target: stage-rework }
`;

beforeAll(async () => {
  const decisions = join(place, "decisions");
  mkdirSync(decisions);
  writeFileSync(join(decisions, "ship.yaml"), definition);
  for (const id of ["build-41", hostile]) {
    const input = JSON.stringify({ artifact: { id, score: 0.9 }, customer: "c-1" });
    const words = ["decision", "evaluate", "ship", "--input", input, "--decisions", decisions];
    expect((await run([...words, "--store", store])).exitCode).toBe(0);
  }
});

const lineage = async (...words: readonly string[]): Promise<string> => {
  const command = ["decision", "lineage", ...words, "--store", store];
  const { exitCode, stdout, stderr } = await run(command, { cwd: place });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return stdout;
};

describe("the lineage of recorded decisions", () => {
  it.skipIf(!hasTerminal)(`is a tree on a terminal${noTerminal}`, async () => {
    const { exitCode, screen } = await typed(
      `node ${join(root, "bin/agent-33.js")} decision lineage 2 --store '${store}'`,
      { cwd: place, env: { NO_COLOR: "1" } },
    );
    expect(exitCode).toBe(0);
    const [first = "", ...lines] = screen.trimEnd().split("\n");
    expect(first).toMatch(/^#2 ship {2}Pass → stage-deploy \(decision, binary, /);
    expect(lines).toEqual([
      "├─ depends on",
      `│  ├─ ${hostile} (artifact)`,
      "│  ├─ customer:c-1 (entity)",
      "│  ├─ artifact  score (input)",
      "│  └─ precedent, same outcome (similarity 1) → #1 ship  Pass → stage-deploy (decision, binary)",
      "└─ led to",
      "   └─ Pass → stage-deploy (target)",
    ]);
  });

  it.each([
    { format: "mermaid", read: readMermaid },
    { format: "dot", read: readDot },
  ])("is a picture for those who read $format, whatever an artifact is called", async ({ format, read }) => {
    for (const question of [["2"], ["--impact", hostile]]) {
      const { nodes } = await read(await lineage(...question, "--format", format));
      expect(nodes.map((text) => text.split("\n")[0])).toContain(hostile);
    }
  });

  it("lists what touched an artifact or an entity", async () => {
    const numbers = (text: string): readonly number[] =>
      (JSON.parse(text) as readonly { readonly seq: number }[]).map(({ seq }) => seq);
    expect(numbers(await lineage("--artifact", hostile, "--json"))).toEqual([2]);
    expect(numbers(await lineage("--entity", "customer:c-1", "--json"))).toEqual([2, 1]);
  });
});
