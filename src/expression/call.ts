import { didYouMean } from "../nearest.js";
import { functionTable, signature } from "./function-table.js";
import { isForbiddenKey } from "./path.js";
import { compilePattern } from "./pattern.js";
import type { Node } from "./syntax.js";

interface Fault {
  readonly message: string;
  readonly hint?: string;
}

/** What is wrong with a call before it ever runs: the name, the number of arguments, a literal that cannot work. */
export function faultOfCall(name: string, args: readonly Node[]): Fault | undefined {
  const entry = functionTable.get(name);
  if (entry === undefined) {
    const known = Object.hasOwn(elsewhere, name) ? elsewhere[name] : undefined;
    const hint = known ?? didYouMean(name, functionTable.keys()) ?? "see `agent-33 help expressions`";
    return { message: `there is no function \`${name}\``, hint };
  }
  const least = entry.parameters.filter((parameter) => !parameter.optional).length;
  const most = entry.parameters.at(-1)?.rest ? Infinity : entry.parameters.length;
  if (args.length < least || args.length > most) {
    return { message: `\`${signature(entry)}\` got ${args.length} argument${args.length === 1 ? "" : "s"}` };
  }
  const [, second] = args;
  if (second?.kind !== "literal" || typeof second.value !== "string") return undefined;
  if (name === "get") return faultOfKey(second.value);
  return name === "matches" ? faultOfPattern(second.value) : undefined;
}

/** What other languages call it. */
const elsewhere: Readonly<Record<string, string>> = {
  len: "did you mean `length`?",
  size: "did you mean `length`?",
  includes: "did you mean `contains`?",
  now: "the time is `system.request_time`",
  today: "the time is `system.request_time`",
  isEmpty: "did you mean `empty`?",
  startsWith: "did you mean `starts_with`?",
  endsWith: "did you mean `ends_with`?",
  toLowerCase: "did you mean `lower`?",
  toUpperCase: "did you mean `upper`?",
};

function faultOfKey(key: string): Fault | undefined {
  return isForbiddenKey(key) ? { message: `\`${key}\` is not a key that can be read` } : undefined;
}

function faultOfPattern(source: string): Fault | undefined {
  const pattern = compilePattern(source);
  return typeof pattern === "string" ? { message: `the pattern cannot be used: ${pattern}` } : undefined;
}
