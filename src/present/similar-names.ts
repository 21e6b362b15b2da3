import { isObject } from "../expression/equal.js";
import type { Json } from "../model/json.js";
import { nearest } from "../text.js";

/** Returns what conditions can name: the keys of the context, the context itself, and the input. */
export const namesFor = (context: unknown, input?: Json): Readonly<Record<string, unknown>> => ({
  context,
  ...(input !== undefined && { input }),
  ...(isObject(context) && context),
});

/** Adds to each value that is missing, according to the text, a value that has a similar name. */
export const withSimilarNames = (text: string, names: Readonly<Record<string, unknown>>): string =>
  text.replace(/`([^`]+)` is missing/g, (found, path: string) => {
    const similar = similarPath(path.split("."), names);
    return similar === undefined ? found : `${found}, but there is \`${similar}\``;
  });

/** The names of fields are short; longer keys are data. */
const maxLength = 80;

function similarPath(path: readonly string[], names: Readonly<Record<string, unknown>>): string | undefined {
  let part: unknown = names;
  for (const [depth, name] of path.entries()) {
    if (!isObject(part)) return undefined;
    if (!Object.hasOwn(part, name)) {
      const keys = Object.keys(part).filter(({ length }) => length <= maxLength);
      const similar = nearest(name, keys) ?? onlyAbbreviation(name, keys);
      return similar && [...path.slice(0, depth), similar].join(".");
    }
    part = part[name];
  }
  return undefined;
}

/** Returns the only key that the name abbreviates, or the reverse: `temp` and `temperature`, `path` and `file_path`. */
function onlyAbbreviation(name: string, keys: readonly string[]): string | undefined {
  const found = keys.filter((key) => isAbbreviation(name, key) || isAbbreviation(key, name));
  return found.length === 1 ? found[0] : undefined;
}

const isAbbreviation = (short: string, long: string): boolean =>
  short.length >= 3 && (long.startsWith(short) || long.endsWith(`_${short}`) || long.endsWith(`-${short}`));
