import type { Segments } from "../../expression/column-path.js";
import { isSamePath, parsePath } from "../../expression/column-path.js";
import type { Definition } from "../../model/definition.js";
import type { Finding } from "../diagnostics.js";

/** Finds columns of a table that name nothing, or the same as another one. */
export function checkColumns(definition: Definition): readonly Finding[] {
  if (definition.type !== "rule_table") return [];
  const paths: Segments[] = [];
  const answers = new Set<string>();
  return (definition.columns ?? []).flatMap((column, index): readonly Finding[] => {
    const key = "if" in column ? "if" : "then";
    const written = "if" in column ? column.if : column.then;
    const at = ["columns", index, key];
    const path = "if" in column ? parsePath(column.if) : undefined;
    if ("if" in column && path === undefined)
      return [
        { path: at, message: `\`${written}\` is not a path`, hint: "write a path such as customer.tier" },
      ];
    if (!("if" in column) && !/^(?:target|output|output[.[].+)$/s.test(written))
      return [
        {
          path: at,
          message: `a column cannot show \`${written}\``,
          hint: "write target, output or output.KEY",
        },
      ];
    const isTwice = path === undefined ? answers.has(written) : paths.some((each) => isSamePath(each, path));
    if (path === undefined) answers.add(written);
    else paths.push(path);
    return isTwice ? [{ path: at, message: `there are two columns for \`${written}\`` }] : [];
  });
}
