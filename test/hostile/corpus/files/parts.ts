/**
 * sound: `x` is defined. broken: `x` would be, were it not for the rest. void: there is nothing in it, and nothing
 * is wrong with that. sound but for a test: `x` is defined, and a test is wrong. alien: there is something in it, but no `x`. illegible: nobody can tell whether there is an
 * `x` in it. sound or broken: only its size is unusual; it may be read or refused, as long as that is done in time.
 */
export type Soundness =
  "sound" | "broken" | "void" | "sound but for a test" | "alien" | "illegible" | "sound or broken";

/** A file that somebody put among the definitions. Where it is sound, `x` leads to `t` for `{"a": 1}`. */
export interface HostileFile {
  readonly name: string;
  /** What the file is called; `x.yaml` where nothing is said. */
  readonly file?: string;
  /** Made when it is written: together they are large. */
  readonly content: () => string | Uint8Array;
  readonly is: Soundness;
  /** `line:column` of the first problem. */
  readonly at?: string;
}

export interface HostileFiles {
  readonly title: string;
  /** Set where every file is given to the real command, not only the first. */
  readonly spawned?: true;
  readonly files: readonly HostileFile[];
}

export const header = "decision:\n  id: x\n  type: switch\n";
export const cases = '  cases:\n    - {condition: "a == 1", target: t}\n';
export const otherwise = "  default: {target: d}\n";
/** Six lines, so what is appended begins on line 7. */
export const sound = `${header}${cases}${otherwise}`;
export const after = (rest: string): string => `${sound}---\n${rest}`;
export const testOf = (input: string): string =>
  `tests: [{decision: x, expect: {target: t}, input: {any: ${input}}}]\n`;
export const list = <T>(count: number, item: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => item(index));
export const lines = (count: number, line: (index: number) => string): string => list(count, line).join("");

export function table(rules: number, rule: (index: number) => string): string {
  return `decision:\n  id: x\n  type: rule_table\n${otherwise}  rules:\n${lines(rules, (index) => `    - ${rule(index)}\n`)}`;
}
