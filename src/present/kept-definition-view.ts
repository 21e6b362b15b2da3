import type { KeptDefinition } from "../record/kept-definition.js";
import { definitionView } from "./definition-views.js";
import type { View } from "./format.js";

/** The same as of a definition that has a file; this one has none. */
export function keptDefinitionView(kept: KeptDefinition): View {
  const { definition, definition_hash } = kept;
  const view = definitionView({ ...kept, environment: {}, environment_hash: "", file: "", line: 0 });
  return {
    value: { ...definition, definition_hash },
    plain: () => view.plain(),
    table: async (style) => {
      const fileLine = `  ${style.paint("dim", "file".padEnd(11))} :0`;
      const lines = (await view.table(style)).split("\n");
      return lines.filter((line) => line !== fileLine).join("\n");
    },
  };
}
