import { diagnosticAt } from "../definition/diagnostics.js";
import type { Diagnostic } from "../model/diagnostic.js";
import { printable } from "../text.js";
import { cellText } from "./cell.js";
import type { DmnDefinitions } from "./dmn-model.js";
import { parseDmn } from "./dmn-model.js";
import type { DmnModel } from "./dmn-table-reader.js";
import { attempt, baseType, DmnTableReader, ordinalOf } from "./dmn-table-reader.js";
import { readUnaryTests } from "./feel.js";
import type { ElementFinding } from "./reduce-dmn.js";
import { prefixes, reduceDmn } from "./reduce-dmn.js";
import type { Place, ReadTables, Table } from "./table.js";
import { maxProblems } from "./table.js";
import { InvalidXml, placesOf } from "./xml.js";

/** Reads the decision tables of a DMN model. */
export async function readDmn(file: string, document: string): Promise<ReadTables> {
  try {
    const { xml, problems, leftOut } = reduceDmn(document);
    const reader = new ModelReader(problems, leftOut, placesIn(document));
    // What is malformed may be understood as something else.
    const tables = problems.length > 0 ? [] : reader.read(await parseModel(xml));
    return { tables, problems: locate(file, reader) };
  } catch (error) {
    if (!(error instanceof InvalidXml)) throw error;
    return {
      tables: [],
      problems: [diagnosticAt({ file, ...error.place }, { message: error.message, hint: error.hint })],
    };
  }
}

async function parseModel(xml: string): Promise<DmnDefinitions> {
  try {
    return await parseDmn(xml);
  } catch (error) {
    const reason = /nested error: (.*)/.exec((error as Error).message)?.[1] ?? (error as Error).message;
    throw new InvalidXml(`the model is invalid: ${printable(reason)}`, { line: 1, column: 1 });
  }
}

type FindPlaces = (ordinals: readonly number[]) => ReadonlyMap<number, Place>;

const placesIn =
  (document: string): FindPlaces =>
  (ordinals) =>
    placesOf(document, prefixes, new Set(ordinals));

const start: Place = { line: 1, column: 1 };

/** Adds the places of the elements to the findings. */
function locate(file: string, { problems, warnings, findPlaces }: ModelReader): readonly Diagnostic[] {
  const shown = problems.slice(0, maxProblems);
  const noted = warnings.slice(0, maxProblems);
  const places = findPlaces([...shown, ...noted].map(({ ordinal }) => ordinal));
  const placeOf = ({ ordinal }: ElementFinding): Place => places.get(ordinal) ?? start;
  const more = problems.length - shown.length;
  return [
    ...shown.map((each) => diagnosticAt({ file, ...placeOf(each) }, each)),
    ...(more > 0 ? [diagnosticAt({ file, ...start }, { message: `there are ${more} more problems` })] : []),
    ...noted.map((each) => diagnosticAt({ file, ...placeOf(each) }, { ...each, severity: "warning" })),
  ];
}

class ModelReader {
  readonly problems: ElementFinding[];
  readonly warnings: ElementFinding[];
  readonly findPlaces: FindPlaces;

  constructor(
    problems: readonly ElementFinding[],
    leftOut: readonly ElementFinding[],
    findPlaces: FindPlaces,
  ) {
    this.problems = [...problems];
    this.warnings = [...leftOut];
    this.findPlaces = findPlaces;
  }

  read(definitions: DmnDefinitions): readonly Table[] {
    const { drgElement = [], exporter, expressionLanguage } = definitions;
    const decisions = drgElement.filter((each) => each.$type === "dmn:Decision");
    const model: DmnModel = {
      names: drgElement.flatMap(({ name }) => name ?? []).sort((a, b) => b.length - a.length),
      types: this.#types(definitions),
      isOwn: exporter === "agent-33",
      expressionLanguage,
      placeOf: (ordinal) => this.findPlaces([ordinal]).get(ordinal) ?? start,
    };
    const byReference = new Map(decisions.map((each) => [`#${each.id ?? ""}`, each.name ?? each.id ?? ""]));
    return decisions.flatMap((decision) => {
      if (decision.decisionLogic === undefined) return [];
      for (const requirement of decision.informationRequirement ?? []) {
        const { requiredDecision } = requirement;
        const name =
          requiredDecision && (byReference.get(requiredDecision.href ?? "") ?? requiredDecision.href ?? "");
        if (name === undefined) continue;
        const message = `\`${decision.name ?? ""}\` uses the answer of the decision \`${name}\``;
        this.warnings.push({
          ordinal: ordinalOf(requirement),
          message,
          hint: `pass the answer in the context as \`${name}\``,
        });
      }
      return [new DmnTableReader(decision, decision.decisionLogic, model, this.problems).read()];
    });
  }

  /** Returns the types that the model defines as a base type with allowed values. */
  #types({ itemDefinition = [] }: DmnDefinitions): DmnModel["types"] {
    return new Map(
      itemDefinition.flatMap((each) => {
        const { name, typeRef, allowedValues, isCollection = false } = each;
        if (name === undefined || isCollection) return [];
        const type = baseType(typeRef);
        const text = allowedValues?.text ?? "";
        const cell = attempt(
          this.problems,
          allowedValues ?? each,
          `the type \`${name}\``,
          () => readUnaryTests(text).cell,
        );
        return [
          [
            name,
            { ...(type !== undefined && { type }), ...(cell !== undefined && { values: cellText(cell) }) },
          ],
        ];
      }),
    );
  }
}
