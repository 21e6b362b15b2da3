import { readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { FileSummary } from "../definition/definition-file.js";
import type { Library, LoadDefinition } from "../definition/library.js";
import { buildLibrary } from "../definition/library.js";
import type { LocatedDefinition } from "../definition/read-definitions.js";
import type { Path } from "../definition/yaml-source.js";
import type { LoadedDefinition } from "../model/definition.js";
import { isTestFile } from "../store/definition-directory.js";
import { readSummaries } from "../store/definitions.js";
import type { TestFile } from "../testing/test-cases.js";
import { version } from "../version.js";

/** Summaries of definition files, with every valid definition and its source. Read without the cache. */
export interface DefinitionFiles {
  readonly summaries: readonly FileSummary[];
  readonly located: readonly LocatedDefinition[];
  /** The tests of all files. */
  readonly tests?: readonly TestFile[];
  /** Whether other files of the same directory were not read. */
  readonly isPart?: boolean;
}

/** Reads a directory with its test files, or a single file. */
export async function readDefinitionFiles(
  path: string,
  isDirectory: boolean,
  unsaved?: ReadonlyMap<string, Uint8Array>,
): Promise<DefinitionFiles> {
  const located: LocatedDefinition[] = [];
  const options = {
    directory: isDirectory ? path : dirname(path),
    onlyFile: isDirectory ? undefined : basename(path),
    cacheHome: undefined,
    version,
    unsaved,
    inspect: (definition: LocatedDefinition) => located.push(definition),
  };
  const isTests = !isDirectory && isTestFile(path);
  const read = [
    ...(isTests ? [] : await readSummaries(options)),
    ...(isDirectory || isTests ? await readSummaries(options, "tests") : []),
  ];
  return {
    summaries: read.map(({ summary }) => summary),
    located,
    tests: read.map(({ summary: { file }, tests }) => ({ file, tests })),
    isPart: !isDirectory,
  };
}

/** Builds a library from the files. */
export function libraryOf({ summaries, located, isPart = false }: DefinitionFiles): Library {
  const definitions = new Map(located.map((each) => [definitionKey(each), each.definition]));
  const load: LoadDefinition = (file, position) => {
    const summary = summaries.find((each) => each.file === file)?.definitions[position];
    const definition = definitions.get(`${file} ${summary?.id ?? ""}`);
    if (definition === undefined) return Promise.reject(new Error(`\`${file}\` was not read`));
    return Promise.resolve(definition);
  };
  return buildLibrary(summaries, load, { isPart });
}

const definitionKey = ({ file, summary }: LocatedDefinition): string => `${file} ${summary.id}`;

/** Finds lines in the files of definitions, each of which is read once. */
export class DefinitionLines {
  readonly #files = new Map<string, (id: string, path: Path) => number>();

  /** Returns a function that finds the line of a part of a definition. */
  async of({
    definition: { id },
    file,
  }: Pick<LoadedDefinition, "definition" | "file">): Promise<(path: Path) => number> {
    let locate = this.#files.get(file);
    if (locate === undefined) {
      const { decisionLocator } = await import("../definition/read-definitions.js");
      locate = decisionLocator(readFileSync(file));
      this.#files.set(file, locate);
    }
    const found = locate;
    return (path) => found(id, path);
  }
}
