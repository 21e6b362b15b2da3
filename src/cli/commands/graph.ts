import type { Command } from "commander";
import { buildDecisionGraph } from "../../definition/decision-graph.js";
import type { Drawing } from "../../model/drawing.js";
import type { OpenedDefinitions } from "../../store/definitions.js";
import type { CommonFlags } from "../flags.js";
import { addCommonFlags, formatFor } from "../flags.js";
import type { Io } from "../io.js";
import { note, openReadableWorld, warnAboutDefinitions } from "../world.js";
import { drawingFormats, writeDrawing } from "../output.js";

export function addGraphCommand(parent: Command, io: Io): void {
  addCommonFlags(parent.command("graph"), drawingFormats)
    .argument("[id...]", "only what these decisions lead to, at once or in the end")
    .summary("draw the decisions and where they lead")
    .description(
      "Draws each decision with the targets that its branches lead to, what those depend on, the endpoints that data " +
        "is fetched from, the tools that policies are about and the actions of gates. A target that is the id of a decision leads on to that decision. " +
        "A tree on a terminal; mermaid and dot for pages and pictures; in a pipe JSON: {nodes, edges}.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision graph
  $ agent-33 decision graph decision-quality-gate
  $ agent-33 decision graph --format mermaid > decisions.mmd
  $ agent-33 decision graph --format dot | dot -Tsvg > decisions.svg
  $ agent-33 decision graph --json`,
    )
    .action(async (ids: readonly string[], flags: CommonFlags) => {
      const format = formatFor(flags, io, { answer: "one", more: drawingFormats });
      const { definitions } = await openReadableWorld(flags, io);
      const drawing = await drawingOf(definitions, ids);
      if (drawing.nodes.length === 0 && !flags.quiet) note(io, "no decision is defined here");
      await writeDrawing({ drawing, format, smaller: "name some ids" }, flags, io);
      warnAboutDefinitions(flags, io, definitions.diagnostics);
    });
}

async function drawingOf(library: OpenedDefinitions, ids: readonly string[]): Promise<Drawing> {
  for (const id of ids) await library.find(id);
  const loaded = await Promise.all(library.ids.map((id) => library.find(id)));
  const { targets, broken } = library;
  const definitions = loaded.map(({ definition }) => definition);
  return buildDecisionGraph({ definitions, targets, broken }, ids.length === 0 ? undefined : ids);
}
