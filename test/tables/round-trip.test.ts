import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { prepare } from "../../src/evaluate/prepare.js";
import type { RuleTableDefinition } from "../../src/model/definition.js";
import type { JsonObject } from "../../src/model/json.js";
import { readCsv } from "../../src/tables/csv.js";
import type { TableFormat } from "../../src/tables/export-table.js";
import { exportTable } from "../../src/tables/export-table.js";
import { importTables } from "../../src/tables/import-tables.js";
import { readDmn } from "../../src/tables/read-dmn.js";
import { runsFor } from "../thoroughness.js";
import { contextsOf } from "./arbitraries.js";
import { definitions } from "./tables.js";

async function write(definition: RuleTableDefinition, format: TableFormat): Promise<string> {
  const exported = await exportTable(definition, format);
  if ("unfit" in exported) throw new Error(JSON.stringify(exported.unfit));
  return exported.text;
}

async function read(text: string, format: TableFormat): Promise<RuleTableDefinition> {
  const tables = format === "csv" ? readCsv("t.csv", text) : await readDmn("t.dmn", text);
  const {
    definitions: [definition],
  } = await importTables("t", tables, { fallbackId: "random" });
  if (definition === undefined) throw new Error("no definition");
  return definition;
}

function answerOf(definition: RuleTableDefinition, context: JsonObject): unknown {
  const scope = { input: context, context, facts: {}, system: {} };
  try {
    const { selected_targets, selected_labels, outputs } = prepare(definition).evaluate(scope);
    return { selected_targets, selected_labels, outputs };
  } catch (error) {
    return (error as { code?: string }).code ?? error;
  }
}

const contexts = fc
  .tuple(contextsOf(["n", "t", "yes", "first name"]), contextsOf(["k"]), fc.boolean())
  .map(([context, o, has]): JsonObject => (has ? { ...context, o } : context));

describe.each(["csv", "dmn"] as const)("%s", (format) => {
  it("gives back the definition", async () => {
    await fc.assert(
      fc.asyncProperty(definitions, async (definition) => {
        const text = await write(definition, format);
        const again = await read(text, format);
        expect(await write(again, format)).toBe(text);
      }),
      { numRuns: runsFor(250) },
    );
  });

  it("gives the same answers", async () => {
    await fc.assert(
      fc.asyncProperty(
        definitions,
        fc.array(contexts, { minLength: 5, maxLength: 5 }),
        async (definition, inputs) => {
          const again = await read(await write(definition, format), format);
          for (const context of inputs)
            expect(answerOf(again, context)).toEqual(answerOf(definition, context));
        },
      ),
      { numRuns: runsFor(250) },
    );
  });
});
