import { didYouMean } from "../../nearest.js";
import { formats } from "./formats.js";

/** Why ajv refuses a schema, in our words. */
export function rewordCompileError(error: unknown, keywords: readonly string[]): string {
  const text = error instanceof Error ? error.message : String(error);
  const keyword = /unknown keyword: "(.+)"/.exec(text)?.[1];
  if (keyword !== undefined) {
    const hint = didYouMean(keyword, keywords);
    return `unknown keyword \`${keyword}\`${hint === undefined ? "" : `, ${hint}`}`;
  }
  const format = /^unknown format "(.+)" ignored/.exec(text)?.[1];
  if (format !== undefined) return `unknown format \`${format}\`, known are ${listed(Object.keys(formats))}`;
  const reference = /^can't resolve reference (.+) from id/.exec(text)?.[1];
  if (reference !== undefined) return `\`$ref: ${reference}\` leads nowhere: it must lead within the schema`;
  return text.replace(/^strict mode: /, "").replace(/"([^"]*)"/g, "`$1`");
}

const listed = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ");
